"""Parsing (spec § 4): a URL in its canonical form, or the code of checks 1 and 2 it fails by."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weighbeam.core.escapes import escape_path, escape_query, remove_dot_segments, settle_escapes
from weighbeam.core.surrogates import has_lone_surrogate
from weighbeam.mechanisms.evidence.hosts import Host, read_host

Unparsed: TypeAlias = Literal["malformed_url", "non_https"]

MOST_CHARACTERS = 2_048
SPACE = " \t\n\r\f\v"
SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*:")
AUTHORITY = re.compile("//([^/?#]+)([^?#]*)([^#]*)")
HOST_AND_PORT = re.compile(r"(\[[^\]]*\]|[^:]*)(?::([0-9]*))?")
DEFAULT_PORTS = {"https": 443, "http": 80}
TRACKING = frozenset("gclid fbclid dclid msclkid yclid igshid mc_cid mc_eid ref_src".split())


@dataclass(frozen=True, slots=True)
class Url:
    """A parsed URL. `port` is None if it is the scheme's own; `given` is path and query before characters that RFC 3986
    does not allow were escaped, which is how an archive's inner URL is read.
    """

    scheme: str
    host: Host
    port: int | None
    path: str
    query: str
    given: str

    @property
    def text(self) -> str:
        """The canonical URL."""
        port = "" if self.port is None else f":{self.port}"
        return f"{self.scheme}://{self.host.name}{port}{self.path}{'?' * bool(self.query)}{self.query}"

    @property
    def page_key(self) -> str:
        """What makes two URLs the same page: no scheme, port, `www.`, trailing slash or tracking parameter."""
        kept = sorted(part for part in self.query.split("&") if part and not _is_tracking(part.partition("=")[0]))
        return self.host.name.removeprefix("www.") + self.path.rstrip("/") + "?" * bool(kept) + "&".join(kept)


def read_url(text: object, schemes: tuple[str, ...] = ("https",)) -> Url | Unparsed:
    """A URL of one of the schemes, or why it is none.

    >>> read_url("HTTPS://WWW.Example.ORG:443/a/../c%7e?b=2&utm_id=1&a=%41#x").page_key
    'example.org/c~?a=A&b=2'
    >>> read_url("example.com"), read_url("https:///x")
    ('non_https', 'malformed_url')
    """
    trimmed = text.strip(SPACE) if isinstance(text, str) else ""
    if not 0 < len(trimmed) <= MOST_CHARACTERS or _is_broken(trimmed):
        return "malformed_url"
    scheme = SCHEME.match(trimmed)
    if scheme is None or scheme[0][:-1].lower() not in schemes:
        return "non_https"
    rest = AUTHORITY.match(trimmed, scheme.end())
    return "malformed_url" if rest is None else _read_rest(scheme[0][:-1].lower(), *rest.groups())


def _read_rest(scheme: str, authority: str, path: str, query: str) -> Url | Unparsed:
    place = HOST_AND_PORT.fullmatch(authority)
    host = read_host(place[1]) if place and not set("@%") & set(authority) else None
    port = int(place[2]) if place and place[2] else DEFAULT_PORTS[scheme]
    if host is None or not 1 <= port <= 65_535:
        return "malformed_url"
    path = remove_dot_segments(settle_escapes(path) or "/")
    query = settle_escapes(query[1:])
    return Url(
        scheme=scheme,
        host=host,
        port=None if port == DEFAULT_PORTS[scheme] else port,
        path=escape_path(path),
        query=escape_query(query),
        given=path + "?" * bool(query) + query,
    )


def _is_broken(text: str) -> bool:
    """White space, control characters, backslashes, and halves of characters, which UTF-8 cannot write."""
    marred = any(c == "\\" or c.isspace() or unicodedata.category(c) == "Cc" for c in text)
    return marred or has_lone_surrogate(text)


def _is_tracking(key: str) -> bool:
    return key in TRACKING or key.startswith("utm_")
