"""Checks 1 to 5 on a URL, its redirects and its archived copies (spec §§ 3, 4)."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from weighbeam.mechanisms.evidence.excerpt.forms import parse_forms
from weighbeam.mechanisms.evidence.params import EvidenceParams, find_penalty
from weighbeam.mechanisms.evidence.url.known_hosts import REDIRECTORS
from weighbeam.mechanisms.evidence.url.lists import Lists
from weighbeam.mechanisms.evidence.url.parse import SCHEME, Unparsed, Url, parse_url
from weighbeam.mechanisms.evidence.url.search import is_search

ARCHIVE_HOST = "web.archive.org"
ARCHIVED_COPY = re.compile(r"/web/[0-9]{4,14}[A-Za-z_]*/(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ArchiveLayers:
    """A URL and, if it is an archive's, the URL inside it, and so on; `fault` is why the innermost did not parse."""

    urls: tuple[Url, ...]
    fault: Unparsed | None = None

    @property
    def archived(self) -> bool:
        return len(self.urls) > 1 or self.fault is not None

    @property
    def inner(self) -> Url | None:
        """The URL that counts."""
        return None if self.fault else self.urls[-1]


def unwrap(url: Url) -> ArchiveLayers:
    """Every layer is shorter than the one around it, so that this ends.

    >>> copy = parse_url("https://web.archive.org/web/2020id_/example.org/a")
    >>> [layer.text for layer in unwrap(copy).urls]
    ['https://web.archive.org/web/2020id_/example.org/a', 'http://example.org/a']
    """
    layers = [url]
    while (copied := _find_copied(layers[-1])) is not None:
        inner = parse_url(copied, ("https", "http"))
        if isinstance(inner, str):
            return ArchiveLayers(tuple(layers), inner)
        layers.append(inner)
    return ArchiveLayers(tuple(layers))


def _find_copied(url: Url) -> str | None:
    found = ARCHIVED_COPY.fullmatch(url.given) if url.host.name == ARCHIVE_HOST else None
    if found is None:
        return None
    return found[1] if SCHEME.match(found[1]) else f"http://{found[1]}"


UrlKind = Literal["archive", "redirector", "search", "page"]
HTTPS_PORT = 443


@dataclass(frozen=True, slots=True)
class UrlVerdict:
    """Result of the stage evidence.url. Plain values: `UrlVerdict(**recorded)` is the verdict again."""

    ok: bool
    reason: str | None
    penalty: float | None
    at: int
    url: str | None
    host: str | None
    domain: str | None
    site: str | None
    page: str | None
    kind: UrlKind | None
    approved: bool
    multiplier: float
    redirected: bool

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class JudgedUrl:
    """One URL of a chain, judged alone."""

    reason: str | None
    layers: ArchiveLayers | None = None
    kind: UrlKind | None = None
    domain: str | None = None


def judge_url(url: object, hops: Sequence[object], excerpt: object, lists: Lists, params: EvidenceParams) -> UrlVerdict:
    """The first URL of the chain that fails checks 1 to 5, else the last one."""
    forms = parse_forms(excerpt) if isinstance(excerpt, str) else []
    first = last = _judge_one(url, forms, lists)
    at = 0
    for hop in hops:
        if last.reason is not None:
            break
        last, at = _judge_one(hop, forms, lists), at + 1
    return _make_verdict(first, last, at, lists, params)


def find_page_key(url: object) -> str | None:
    """The page key of a URL that passes checks 1 and 2, else None."""
    read = parse_url(url)
    inner = None if isinstance(read, str) else unwrap(read).inner
    return None if inner is None else inner.page_key


def _make_verdict(first: JudgedUrl, last: JudgedUrl, at: int, lists: Lists, params: EvidenceParams) -> UrlVerdict:
    outer = last.layers.urls[0] if last.layers else None
    inner = last.layers.inner if last.layers else None
    approved = last.reason is None and last.kind == "page" and outer is not None and lists.approve(outer)
    return UrlVerdict(
        ok=last.reason is None,
        reason=last.reason,
        penalty=None if last.reason is None else find_penalty(params, last.reason),
        at=at,
        url=None if outer is None else outer.text,
        host=None if outer is None else outer.host.name,
        domain=last.domain,
        site=None if inner is None else lists.suffixes.find_site(inner.host.name),
        page=None if inner is None else inner.page_key,
        kind=last.kind,
        approved=approved,
        multiplier=params.approved_multiplier if approved else 1.0,
        redirected=None not in (first.domain, last.domain) and first.domain != last.domain,
    )


def _judge_one(text: object, excerpt: Sequence[str], lists: Lists) -> JudgedUrl:
    url = parse_url(text)
    if isinstance(url, str):
        return JudgedUrl(url)
    layers = unwrap(url)
    if layers.inner is None:
        return JudgedUrl(layers.fault, layers)
    kind = _classify_url(layers, excerpt, lists)
    reason = _find_fault(layers, kind, lists)
    if reason != "search_url" and layers.archived:
        kind = "archive"
    return JudgedUrl(reason, layers, kind, _find_domain(layers.inner, lists))


def _classify_url(layers: ArchiveLayers, excerpt: Sequence[str], lists: Lists) -> UrlKind:
    """A redirector is judged by where it leads, an archive's copy by all its layers."""
    if not layers.archived and REDIRECTORS.hold(layers.urls[0], lists.suffixes):
        return "redirector"
    return "search" if any(is_search(url, excerpt, lists.suffixes) for url in layers.urls) else "page"


def _find_fault(layers: ArchiveLayers, kind: UrlKind, lists: Lists) -> str | None:
    """The first of checks 3 to 5 that fails."""
    if any(lists.forbid(url) for url in layers.urls):
        return "blacklisted_domain"
    if any(_is_forbidden(url, lists) for url in layers.urls):
        return "forbidden_target"
    return "search_url" if kind == "search" else None


def _is_forbidden(url: Url, lists: Lists) -> bool:
    return url.host.address or url.port not in (None, HTTPS_PORT) or _find_domain(url, lists) is None


def _find_domain(url: Url, lists: Lists) -> str | None:
    return None if url.host.address else lists.suffixes.find_domain(url.host.name)
