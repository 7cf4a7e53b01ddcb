"""URLs as the guard sees them: https, port 443, a host name and nothing that could be read in two ways."""

import re
from dataclasses import dataclass
from urllib.parse import urljoin

import idna

from weighbeam.core.text import escape_path, escape_query, normalise_escapes, remove_dot_segments
from weighbeam.senses.adapters.pages.outcome import ReadRefused

MAX_CHARACTERS = 2_048
MAX_HOST = 253
PORT = 443
SPACE = " \t\n\r\f\v"
ODD = re.compile(r"[\s\x00-\x1f\x7f-\x9f\\\ud800-\udfff]")
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
AFTER_SCHEME = re.compile(r"//([^/?#]*)([^?#]*)([^#]*)")
AUTHORITY = re.compile(r"([^:\[\]]+)(?::([0-9]*))?")
NUMBER_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")
PRIVATE_SUFFIXES = ("onion", "arpa", "localhost", "local", "internal")


@dataclass(frozen=True, slots=True)
class PageUrl:
    """Server and target of a URL."""

    host: str
    target: str

    @property
    def url(self) -> str:
        return f"https://{self.host}{self.target}"


def parse_page_url(url: str) -> PageUrl:
    """The place a URL names; `ReadRefused` says `malformed_url`, `non_https` or `forbidden_target`.

    >>> parse_page_url("HTTPS://Münch%en.DE/a b")
    Traceback (most recent call last):
    ...
    weighbeam.senses.adapters.pages.outcome.ReadRefused: malformed_url
    >>> parse_page_url("HTTPS://MÜNCHEN.de.:443/a/%2e%2e/ä?q=1#top").url
    'https://xn--mnchen-3ya.de/%C3%A4?q=1'
    """
    url = url.strip(SPACE)
    if not url or len(url) > MAX_CHARACTERS or ODD.search(url):
        raise ReadRefused("malformed_url")
    scheme = SCHEME.match(url)
    if scheme is None or scheme[1].lower() != "https":
        raise ReadRefused("non_https")
    rest = AFTER_SCHEME.match(url, scheme.end())
    if rest is None or not rest[1] or "@" in rest[1] or "%" in rest[1]:
        raise ReadRefused("malformed_url")
    return PageUrl(_parse_host(rest[1]), _format_target(rest[2], rest[3][1:]))


def join_page_url(base: str, location: str) -> str:
    """The URL a redirect means. Only a path is joined; whatever names a host is left for `parse_page_url` to judge.

    >>> join_page_url("https://example.org/a/b", "../c"), join_page_url("https://example.org/", "///10.0.0.1/")
    ('https://example.org/c', 'https:///10.0.0.1/')
    """
    location = location.strip(SPACE)
    if SCHEME.match(location):
        return location
    return f"https:{location}" if location.startswith("//") else urljoin(base, location)


def _parse_host(authority: str) -> str:
    if authority.startswith("["):
        raise ReadRefused("forbidden_target")
    parts = AUTHORITY.fullmatch(authority)
    if parts is None or (parts[2] and not 1 <= int(parts[2]) <= 65535):
        raise ReadRefused("malformed_url")
    try:
        host = idna.encode(parts[1], uts46=True, std3_rules=True).decode("ascii").lower().removesuffix(".")
    except (idna.IDNAError, UnicodeError):
        raise ReadRefused("malformed_url") from None
    labels = host.split(".")
    if not host or len(host) > MAX_HOST:
        raise ReadRefused("malformed_url")
    registrable = len(labels) > 1 and labels[-1] not in PRIVATE_SUFFIXES and not NUMBER_LABEL.fullmatch(labels[-1])
    if not registrable or int(parts[2] or PORT) != PORT:
        raise ReadRefused("forbidden_target")
    return host


def _format_target(path: str, query: str) -> str:
    """In canonical form: a page is asked for by the very path that lists and checks are held against."""
    path = escape_path(remove_dot_segments(normalise_escapes(path) or "/"))
    return path + "?" * bool(query) + escape_query(normalise_escapes(query))
