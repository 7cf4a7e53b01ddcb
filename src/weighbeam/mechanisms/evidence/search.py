"""Search (spec § 4): URLs whose page is whatever the asker typed, so that it proves nothing."""

from collections.abc import Collection, Sequence

from weighbeam.core.escapes import decode
from weighbeam.mechanisms.evidence.forms import has_letter, read_forms
from weighbeam.mechanisms.evidence.known_hosts import ANSWER_ENGINES, SEARCH_ENGINES
from weighbeam.mechanisms.evidence.read_url import Url
from weighbeam.mechanisms.evidence.runs import is_run
from weighbeam.mechanisms.evidence.suffixes import Suffixes

SEGMENTS = frozenset(
    "search search.html search.htm search.php search.aspx search.jsp special:search yandsearch".split()
)
KEYS = frozenset("q query search search_query searchquery searchterm search_term keyword keywords".split())
ROOT_KEYS = frozenset("s term k".split())
ROOT_SEGMENTS = frozenset(("", "s", "index.php"))
ENGINE_KEYS = KEYS | ROOT_KEYS | frozenset("p text wd word".split())
LEAST_ECHO = 5


def is_search(url: Url, excerpt: Sequence[str], suffixes: Suffixes) -> bool:
    """Whether a URL is a search, or carries the forms of the excerpt in itself."""
    segments = [decode(segment) for segment in url.path.split("/")]
    pairs = [_read_pair(part) for part in url.query.split("&")]
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
    if len(excerpt) < LEAST_ECHO:
        return False
    spaced = [segment.replace("+", " ") for segment in segments if " " in segment or "+" in segment]
    return any(is_run(excerpt, read_forms(text)) for text in [*spaced, *(value for _, value in pairs)])


def _read_pair(part: str) -> tuple[str, str]:
    key, _, value = part.replace("+", " ").partition("=")
    return decode(key), decode(value)
