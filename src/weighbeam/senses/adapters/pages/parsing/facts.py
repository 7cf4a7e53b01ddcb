"""Facts a page states about itself: title, filled search box, `noindex`, date."""

import re
from datetime import date, datetime

from selectolax.lexbor import LexborHTMLParser, LexborNode

from weighbeam.core.text import normalise_text

MAX_TITLE = 300
MAX_LOOKED_AT = 500
TYPED_IN = ("", "text", "search")
SEARCH_NAMES = frozenset(
    "q query s search search_query searchquery searchterm search_term keyword keywords term p wd".split()
)
NO_INDEX = re.compile(r"(?:^|[\s,:])(?:noindex|none)(?:[\s,]|$)", re.IGNORECASE)
ROBOTS = ("robots", "googlebot")
DATE = re.compile(r"\b((?:19|20)\d\d)[-/.]?(\d\d)[-/.]?(\d\d)(?!\d)")
LINKED_DATA = re.compile(r'"datePublished"\s*:\s*"([^"]{8,40})"')
DATE_NAMES = frozenset(
    "article:published_time og:published_time date pubdate publishdate publish_date dc.date dc.date.issued "
    "dcterms.date dcterms.created citation_publication_date citation_date parsely-pub-date sailthru.date "
    "datepublished".split()
)
MOMENT_NAMES = frozenset({"article:published_time", "og:published_time", "datepublished"})
MOMENT = re.compile(r"\d{4}-\d\d-\d\dt\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:z|[+-]\d\d:?\d\d)")


def find_title(tree: LexborHTMLParser) -> str:
    """The document's title, in one line."""
    node = tree.css_first("head > title") or tree.css_first("title")
    return "" if node is None else " ".join(normalise_text(node.text(deep=True)).split())[:MAX_TITLE]


def has_filled_search(tree: LexborHTMLParser) -> bool:
    """Whether somebody's search stands in a search field."""
    return any(map(_is_filled_search, tree.css("input[value]")[:MAX_LOOKED_AT]))


def asks_noindex(tree: LexborHTMLParser, robots: str) -> bool:
    """Whether header or page ask search engines to pass by.

    >>> asks_noindex(LexborHTMLParser("<meta name=Robots content='NOINDEX, follow'>"), "")
    True
    """
    if NO_INDEX.search(robots):
        return True
    metas = tree.css("meta[name][content]")[:MAX_LOOKED_AT]
    return any(_value(meta, "name") in ROBOTS and NO_INDEX.search(_value(meta, "content")) for meta in metas)


def find_date(tree: LexborHTMLParser) -> str | None:
    """The day a page says it was published, as YYYY-MM-DD.

    >>> find_date(LexborHTMLParser("<meta name=date content=2024-02-30><time datetime=2024-03-01>"))
    '2024-03-01'
    """
    said = [
        _value(meta, "content")
        for meta in tree.css("meta[content]")[:MAX_LOOKED_AT]
        if not DATE_NAMES.isdisjoint(_value(meta, name) for name in ("property", "name", "itemprop"))
    ]
    for script in tree.css("script[type='application/ld+json']")[:MAX_LOOKED_AT]:
        said += LINKED_DATA.findall(script.text(deep=True))
    said += [_value(node, "datetime") for node in tree.css("time[datetime]")[:MAX_LOOKED_AT]]
    return next((day for text in said if (day := _parse_day(text))), None)


def find_moment(tree: LexborHTMLParser) -> float | None:
    """The moment a page says it was published, in seconds of UTC; None unless it says so to the second, with its zone.
    Of several the earliest: what is quoted or said below a page is younger than the page.

    >>> find_moment(LexborHTMLParser("<meta property=article:published_time content=1970-01-01T02:00:01+02:00>"))
    1.0
    """
    said = [
        _value(meta, "content")
        for meta in tree.css("meta[content]")[:MAX_LOOKED_AT]
        if not MOMENT_NAMES.isdisjoint(_value(meta, name) for name in ("property", "name", "itemprop"))
    ]
    for script in tree.css("script[type='application/ld+json']")[:MAX_LOOKED_AT]:
        said += LINKED_DATA.findall(script.text(deep=True))
    return min((moment for text in said if (moment := _parse_moment(text)) is not None), default=None)


def _is_filled_search(field: LexborNode) -> bool:
    kind = _value(field, "type")
    if kind not in TYPED_IN or not _value(field, "value"):
        return False
    if kind == "search" or not SEARCH_NAMES.isdisjoint((_value(field, "name"), _value(field, "id"))):
        return True
    form = field.parent
    while form is not None and form.tag not in ("form", "search"):
        form = form.parent
    if form is None or form.tag == "search":
        return form is not None
    return any("search" in _value(form, name) for name in ("action", "role", "name", "id", "class"))


def _value(node: LexborNode, name: str) -> str:
    return (node.attributes.get(name) or "").strip().lower()


def _parse_day(text: str) -> str | None:
    found = DATE.search(text)
    try:
        return date(*map(int, found.groups())).isoformat() if found else None
    except ValueError:
        return None


def _parse_moment(text: str) -> float | None:
    folded = text.strip().lower()
    try:
        return datetime.fromisoformat(folded.upper()).timestamp() if MOMENT.fullmatch(folded) else None
    except (ValueError, OverflowError):
        return None
