"""Entries of the blacklist and the approved list (spec § 5)."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.suffixes import SUFFIXES, Suffixes
from weighbeam.core.text import escape_path, has_lone_surrogate, normalise_escapes
from weighbeam.mechanisms.evidence.url.parse import Url, parse_host

REMEDY = "write host, host/prefix or .suffix, with ! before it to exclude"


@dataclass(frozen=True, slots=True)
class ListEntry:
    """One line of a list. `suffix` entries mean what is below an ICANN suffix, others a host and all below it."""

    host: str
    prefix: str
    excludes: bool
    suffix: bool
    address: bool

    def matches(self, url: Url) -> bool:
        name = url.host.name
        below = not self.address and not url.host.address and name.endswith("." + self.host)
        return (below or (not self.suffix and name == self.host)) and url.path.startswith(self.prefix)

    def approves(self, site: str | None) -> bool:
        """Whether what matches is approved: a host approves nobody if strangers can have a site below it."""
        return self.suffix or (site is not None and (self.host == site or self.host.endswith("." + site)))


class EntriesByHost:
    """A list by host, so that a long one costs no more than a short one."""

    def __init__(self, entries: Iterable[ListEntry] = ()) -> None:
        self.by_host: dict[str, list[ListEntry]] = {}
        for entry in entries:
            self.by_host.setdefault(entry.host, []).append(entry)

    def find(self, url: Url) -> list[ListEntry]:
        """The entries that match a URL."""
        labels = url.host.name.split(".")
        names = (".".join(labels[i:]) for i in range(len(labels)))
        return [entry for name in names for entry in self.by_host.get(name, ()) if entry.matches(url)]


@dataclass(frozen=True, slots=True)
class Lists:
    """Lists in force for a whole round. A URL is listed if an entry matches it and no exclusion does."""

    suffixes: Suffixes = SUFFIXES
    blacklist: EntriesByHost = field(default_factory=EntriesByHost)
    approved: EntriesByHost = field(default_factory=EntriesByHost)

    def forbid(self, url: Url) -> bool:
        found = self.blacklist.find(url)
        return bool(found) and not any(entry.excludes for entry in found)

    def approve(self, url: Url) -> bool:
        found = self.approved.find(url)
        site = self.suffixes.find_site(url.host.name)
        return any(entry.approves(site) for entry in found) and not any(entry.excludes for entry in found)


def parse_lists(blacklist: object = None, approved: object = None, extra_suffixes: object = None) -> Lists:
    """The lists from plain data; a broken entry is refused, because it must never mean an empty list.

    >>> list(parse_lists(["BAD.com", "!good.bad.com"]).blacklist.by_host)
    ['bad.com', 'good.bad.com']
    """
    suffixes = SUFFIXES.add(_parse_suffix(name) for name in _check_list(extra_suffixes, "extra_suffixes"))
    return Lists(
        suffixes=suffixes,
        blacklist=EntriesByHost(parse_entry(entry, suffixes) for entry in _check_list(blacklist, "blacklist")),
        approved=EntriesByHost(parse_entry(entry, suffixes) for entry in _check_list(approved, "approved")),
    )


def parse_entry(given: object, suffixes: Suffixes = SUFFIXES) -> ListEntry:
    """One entry, as a text or as the object of a list file."""
    text = given.get("match") if isinstance(given, dict) else given
    if not isinstance(text, str):
        raise WeighbeamError("bad_entry", f"not an entry of a list: {given!r:.200}", REMEDY)
    excludes = text.startswith("!")
    pattern, slash, prefix = text.removeprefix("!").partition("/")
    suffix = pattern.startswith(".")
    host = None if has_lone_surrogate(text) else parse_host(pattern.removeprefix("."))
    sound = host is not None and (not suffix or suffixes.find_suffix(host.name) == host.name)
    require(sound, "bad_entry", f"not an entry of a list: {text!r:.200}", REMEDY)
    assert host is not None
    return ListEntry(host.name, escape_path(normalise_escapes(slash + prefix)), excludes, suffix, host.address)


def _check_list(given: object, name: str) -> list[object]:
    require(given is None or isinstance(given, list), "bad_input", f"{name} is not a list")
    return given if isinstance(given, list) else []


def _parse_suffix(name: object) -> str:
    host = parse_host(name) if isinstance(name, str) else None
    require(
        host is not None and not host.address, "bad_suffix", f"not a suffix: {name!r:.200}", "write one as in example"
    )
    assert host is not None
    return host.name
