"""Search URLs and search result pages, which prove nothing (spec §§ 4, 8)."""

from collections.abc import Collection, Sequence

from weighbeam.core.suffixes import Suffixes
from weighbeam.core.text import decode_escapes
from weighbeam.mechanisms.evidence.excerpt.forms import has_letter, is_run, parse_forms
from weighbeam.mechanisms.evidence.url.known_hosts import ANSWER_ENGINES, SEARCH_ENGINES
from weighbeam.mechanisms.evidence.url.parse import Url

SEGMENTS = frozenset(
    "search search.html search.htm search.php search.aspx search.jsp special:search yandsearch".split()
)
KEYS = frozenset("q query search search_query searchquery searchterm search_term keyword keywords".split())
ROOT_KEYS = frozenset("s term k".split())
ROOT_SEGMENTS = frozenset(("", "s", "index.php"))
ENGINE_KEYS = KEYS | ROOT_KEYS | frozenset("p text wd word".split())
MIN_ECHO = 5


def is_search(url: Url, excerpt: Sequence[str], suffixes: Suffixes) -> bool:
    """Whether a URL is a search, or carries the forms of the excerpt in itself."""
    segments = [decode_escapes(segment) for segment in url.path.split("/")]
    pairs = [_parse_pair(part) for part in url.query.split("&")]
    return (
        ANSWER_ENGINES.hold(url, suffixes)
        or any(segment.casefold() in SEGMENTS for segment in segments)
        or _asks(pairs, _choose_keys(url, segments, suffixes))
        or _echoes(segments, pairs, excerpt)
    )


def _choose_keys(url: Url, segments: Sequence[str], suffixes: Suffixes) -> Collection[str]:
    """The keys that make a query of this URL a search."""
    if SEARCH_ENGINES.hold(url, suffixes):
        return ENGINE_KEYS
    last = next((segment.casefold() for segment in reversed(segments) if segment), "")
    return KEYS | ROOT_KEYS if last in ROOT_SEGMENTS else KEYS


def _asks(pairs: Sequence[tuple[str, str]], keys: Collection[str]) -> bool:
    return any(key.casefold() in keys and has_letter(value) for key, value in pairs)


def _echoes(segments: Sequence[str], pairs: Sequence[tuple[str, str]], excerpt: Sequence[str]) -> bool:
    if len(excerpt) < MIN_ECHO:
        return False
    spaced = [segment.replace("+", " ") for segment in segments if " " in segment or "+" in segment]
    return any(is_run(excerpt, parse_forms(text)) for text in [*spaced, *(value for _, value in pairs)])


def _parse_pair(part: str) -> tuple[str, str]:
    key, _, value = part.replace("+", " ").partition("=")
    return decode_escapes(key), decode_escapes(value)


OPENINGS = tuple(
    parse_forms(phrase)
    for phrase in (
        "search results",
        "results for",
        "showing results for",
        "you searched for",
        "your search for",
        "no results for",
        "no results found",
        "nothing matched your search",
        "we couldn't find any results",
    )
)


def is_results_page(titles: Sequence[str], search_box: bool, noindex: bool) -> bool:
    """The title or a heading says so, and the page has a filled search box or asks not to be indexed.

    >>> is_results_page(["Search Results: giza"], True, False), is_results_page(["Search results"], False, False)
    (True, False)
    """
    return (search_box or noindex) and any(_opens(parse_forms(title)) for title in titles)


def _opens(forms: list[str]) -> bool:
    return any(forms[: len(opening)] == opening for opening in OPENINGS)
