"""The public suffix list (spec § 4): which part of a host anyone can register below.

The list is a dated copy from publicsuffix.org, under the Mozilla Public License 2.0 as its header says; `make suffixes`
takes a newer one. It is read at import, so that pure code never opens a file and nothing is fetched or cached.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import idna

from weighbeam.core.errors import WeighbeamError, require

LIST = Path(__file__).with_name("public_suffix_list.dat")
PRIVATE = "// ===BEGIN PRIVATE DOMAINS==="
VERSION = re.compile(r"^// VERSION: (\S+)", re.MULTILINE)
UNREGISTERED = frozenset({"onion", "arpa"})


@dataclass(frozen=True)
class SuffixRules:
    """Suffixes, parents of a wildcard, and exceptions to wildcards, as A-labels."""

    plain: frozenset[str]
    wild: frozenset[str]
    spared: frozenset[str]

    def __or__(self, other: "SuffixRules") -> "SuffixRules":
        return SuffixRules(self.plain | other.plain, self.wild | other.wild, self.spared | other.spared)

    def find(self, host: str) -> str | None:
        """The longest suffix of a host, possibly the host itself; None if no rule speaks of it."""
        name = host
        while True:
            parent = name.partition(".")[2]
            if name in self.spared:
                return parent
            if name in self.plain or (parent and parent in self.wild):
                return name
            if not parent:
                return None
            name = parent


@dataclass(frozen=True)
class Suffixes:
    """The list with its version and SHA-256, which every record of a round names."""

    version: str
    sha256: str
    icann: SuffixRules
    every: SuffixRules

    def find_suffix(self, host: str) -> str | None:
        """The ICANN suffix of a host."""
        return self.icann.find(host)

    def find_domain(self, host: str) -> str | None:
        """The registered domain by ICANN rules alone, or None.

        >>> [SUFFIXES.find_domain(host) for host in ("foo.github.io", "news.bbc.co.uk", "co.uk", "x.onion")]
        ['github.io', 'bbc.co.uk', None, None]
        """
        if host.rpartition(".")[2] in UNREGISTERED:
            return None
        return _take_one_more(host, self.find_suffix(host))

    def find_site(self, host: str) -> str | None:
        """The part of a domain that one tenant controls; private suffix rules count too.

        >>> SUFFIXES.find_site("a.foo.github.io"), SUFFIXES.find_site("github.io")
        ('foo.github.io', 'github.io')
        """
        domain = self.find_domain(host)
        return domain and (_take_one_more(host, self.every.find(host)) or domain)

    def add(self, extra: Iterable[str]) -> "Suffixes":
        """The list with further ICANN suffixes, canonical hosts each."""
        names = frozenset(extra)
        if not names:
            return self
        icann, every = (replace(rules, plain=rules.plain | names) for rules in (self.icann, self.every))
        return replace(self, icann=icann, every=every)


def _take_one_more(host: str, suffix: str | None) -> str | None:
    if suffix is None or suffix == host:
        return None
    return host[: -len(suffix) - 1].rpartition(".")[2] + "." + suffix


def parse_suffixes(text: str) -> Suffixes:
    """A list in the format of publicsuffix.org."""
    version = VERSION.search(text)
    icann, found, private = text.partition(PRIVATE)
    require(version is not None and bool(found), "bad_suffix_list", "the public suffix list is damaged", "reinstall")
    assert version is not None
    rules = _parse_rules(icann)
    return Suffixes(
        version=version[1],
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        icann=rules,
        every=rules | _parse_rules(private),
    )


def _parse_rules(text: str) -> SuffixRules:
    lines = (line.strip() for line in text.splitlines())
    rules = [_to_ascii(line) for line in lines if line and not line.startswith("//")]
    return SuffixRules(
        plain=frozenset(rule for rule in rules if rule[0] not in "*!"),
        wild=frozenset(rule[2:] for rule in rules if rule.startswith("*.")),
        spared=frozenset(rule[1:] for rule in rules if rule[0] == "!"),
    )


def _to_ascii(rule: str) -> str:
    if rule.isascii():
        return rule.lower()
    return ".".join(label if label.isascii() else idna.encode(label, uts46=True).decode() for label in rule.split("."))


def _load_snapshot() -> str:
    try:
        return LIST.read_text("utf-8")
    except OSError:
        raise WeighbeamError("no_suffix_list", "the public suffix list is missing", "reinstall weighbeam") from None


SUFFIXES = parse_suffixes(_load_snapshot())
