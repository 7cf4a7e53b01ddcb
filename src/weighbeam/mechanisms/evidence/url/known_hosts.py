"""Search engines, answer engines and redirectors: lists shipped with the package, by version and hash (spec § 4)."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from weighbeam.core.suffixes import SUFFIXES, Suffixes
from weighbeam.mechanisms.evidence.url.parse import Url

FOLDER = "known_hosts"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A host with all below it, or with `.*` a name below any ICANN suffix; and how the path begins."""

    host: str
    prefix: str

    def matches(self, url: Url, suffixes: Suffixes) -> bool:
        if url.host.address or not url.path.startswith(self.prefix):
            return False
        name, wanted = url.host.name, self.host
        if wanted.endswith(".*"):
            suffix = suffixes.find_suffix(name)
            if suffix is None or suffix == name:
                return False
            name, wanted = name[: -len(suffix) - 1], wanted[:-2]
        return name == wanted or name.endswith("." + wanted)


@dataclass(frozen=True, slots=True)
class KnownHosts:
    """One of the lists."""

    name: str
    version: int
    sha256: str
    patterns: Sequence[Pattern]

    def hold(self, url: Url, suffixes: Suffixes) -> bool:
        return any(pattern.matches(url, suffixes) for pattern in self.patterns)


def _load_hosts(name: str) -> KnownHosts:
    data = (files("weighbeam.mechanisms.evidence") / FOLDER / f"{name}.json").read_bytes()
    told = json.loads(data)
    entries = (entry.partition("/") for entry in told["entries"])
    patterns = tuple(Pattern(host, slash + prefix) for host, slash, prefix in entries)
    return KnownHosts(told["list"], told["version"], hashlib.sha256(data).hexdigest(), patterns)


SEARCH_ENGINES = _load_hosts("search-engines")
ANSWER_ENGINES = _load_hosts("answer-engines")
REDIRECTORS = _load_hosts("redirectors")


def describe_sources() -> dict[str, Any]:
    """Version and SHA-256 by name.

    >>> sorted(describe_sources())
    ['answer-engines', 'public-suffixes', 'redirectors', 'search-engines']
    """
    known = {
        hosts.name: {"version": hosts.version, "sha256": hosts.sha256}
        for hosts in (SEARCH_ENGINES, ANSWER_ENGINES, REDIRECTORS)
    }
    return {**known, "public-suffixes": {"version": SUFFIXES.version, "sha256": SUFFIXES.sha256}}
