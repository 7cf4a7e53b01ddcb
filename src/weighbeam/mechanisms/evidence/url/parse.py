"""Parse URLs and hosts into their canonical form, or name the check they fail (spec § 4)."""

import re
import unicodedata
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Literal, TypeAlias

import idna
import idna.uts46data  # loaded here, because idna would open the file at the first host that is not ASCII

from weighbeam.core.text import escape_path, escape_query, has_lone_surrogate, normalise_escapes, remove_dot_segments

MAX_HOST_CHARACTERS = 253
NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]+")
ZEROS = re.compile(r"(?:^|:)0(?::0)+(?::|$)")


@dataclass(frozen=True, slots=True)
class UrlHost:
    """A canonical host, and whether it is an IP literal."""

    name: str
    address: bool = False


def parse_host(text: str) -> UrlHost | None:
    """The canonical host, or None if the text is none.

    >>> [parse_host(text).name for text in ("EXAMPLE。com.", "münchen.de", "[::FFFF:127.0.0.1]")]
    ['example.com', 'xn--mnchen-3ya.de', '[::ffff:7f00:1]']
    >>> parse_host("127.1").address, parse_host("a_b.com")
    (True, None)
    """
    if text.startswith("["):
        return _parse_bracketed(text)
    try:
        name = idna.encode(text, uts46=True, std3_rules=True).decode("ascii").lower().removesuffix(".")
    except UnicodeError:
        return None
    if not name or len(name) > MAX_HOST_CHARACTERS:
        return None
    return UrlHost(name, NUMERIC.fullmatch(name.rpartition(".")[2]) is not None)


def _parse_bracketed(text: str) -> UrlHost | None:
    try:
        return UrlHost(f"[{_shorten(IPv6Address(text[1:-1]))}]", True) if text.endswith("]") else None
    except ValueError:
        return None


def _shorten(address: IPv6Address) -> str:
    """RFC 5952 in hex throughout; later versions of the library write mapped addresses otherwise."""
    groups = ":".join(f"{address.packed[i] << 8 | address.packed[i + 1]:x}" for i in range(0, 16, 2))
    longest = max(ZEROS.findall(groups), key=lambda run: run.count("0"), default=None)
    return groups if longest is None else groups.replace(longest, "::", 1)


Unparsed: TypeAlias = Literal["malformed_url", "non_https"]

MAX_URL_CHARACTERS = 2_048
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
    host: UrlHost
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
        """Key under which two URLs are the same page: no scheme, port, `www.`, trailing slash or tracking parameter."""
        kept = sorted(part for part in self.query.split("&") if part and not _is_tracking(part.partition("=")[0]))
        return self.host.name.removeprefix("www.") + self.path.rstrip("/") + "?" * bool(kept) + "&".join(kept)


def parse_url(text: object, schemes: tuple[str, ...] = ("https",)) -> Url | Unparsed:
    """A URL of one of the schemes, or why it is none.

    >>> parse_url("HTTPS://WWW.Example.ORG:443/a/../c%7e?b=2&utm_id=1&a=%41#x").page_key
    'example.org/c~?a=A&b=2'
    >>> parse_url("example.com"), parse_url("https:///x")
    ('non_https', 'malformed_url')
    """
    trimmed = text.strip(SPACE) if isinstance(text, str) else ""
    if not 0 < len(trimmed) <= MAX_URL_CHARACTERS or _is_broken(trimmed):
        return "malformed_url"
    scheme = SCHEME.match(trimmed)
    if scheme is None or scheme[0][:-1].lower() not in schemes:
        return "non_https"
    rest = AUTHORITY.match(trimmed, scheme.end())
    return "malformed_url" if rest is None else _parse_rest(scheme[0][:-1].lower(), *rest.groups())


def _parse_rest(scheme: str, authority: str, path: str, query: str) -> Url | Unparsed:
    place = HOST_AND_PORT.fullmatch(authority)
    host = parse_host(place[1]) if place and not set("@%") & set(authority) else None
    port = int(place[2]) if place and place[2] else DEFAULT_PORTS[scheme]
    if host is None or not 1 <= port <= 65_535:
        return "malformed_url"
    path = remove_dot_segments(normalise_escapes(path) or "/")
    query = normalise_escapes(query[1:])
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
