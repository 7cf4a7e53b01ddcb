"""Tricks of evidence miners that have no evidence, one for each way to fool a validator, over the built-in archive.

Most begin with what the honest variant 0 found and spoil one thing, so that only this can be what they are caught by.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any
from urllib.parse import quote_plus

from weighbeam.mechanisms.evidence.miners.library import Library, open_library
from weighbeam.mechanisms.evidence.miners.passages import RULES, QuotablePassage, split_quotable
from weighbeam.mechanisms.evidence.task import find_archive
from weighbeam.senses.adapters.pages.archive.pages import ArchivePages

DENIALS = re.compile(r"\b(?:not|no|never|only|all|most)\s+", re.IGNORECASE)
VERBS = re.compile(r"\b(?:is|are|was|were|can|could|has|have|had|will|would|does|do|did|may|must)\b")


def forge_meaning(sentence: str) -> str:
    """The sentence without its denial, or with one.

    >>> forge_meaning("It does not cure colds."), forge_meaning("It is a lake."), forge_meaning("Tides rise.")
    ('It does cure colds.', 'It is not a lake.', 'Tides never rise.')
    """
    if DENIALS.search(sentence):
        return DENIALS.sub("", sentence, count=1)
    verb = VERBS.search(sentence)
    if verb:
        return f"{sentence[: verb.end()]} not{sentence[verb.end() :]}"
    first, _, rest = sentence.partition(" ")
    return f"{first} never {rest}"


NEWBORN = "https://www.quickfacts-daily.example/health/colds-in-a-minute"
RESULTS = "https://www.findquick.example/results/two-tides-a-day"
BLACKLISTED = "https://www.miracletonics.example/truth/wonder-drops"
GONE = "https://www.harbourgazette.example/archive/ferry-timetable-1911"
UNAVAILABLE = "https://data.weatherkiosk.example/live/lightning-map"
HIDDEN = "https://www.hiddenmargin.example/garden/watering-at-noon"
SEARCH = "https://www.findquick.example/search?q="
INVENTED = (
    "Everybody whom our editors have called about this, here and abroad, says that {} and that it was measured twice.",
    "A letter to the editors, which cannot be shown here, adds on its last page that {} whatever others may say.",
    "Two witnesses of high rank, whose names are known to us, remember from their youth that {} beyond any doubt.",
    "Records in the cellar of the institute are said to show in faded ink that {} and always did.",
)
STUFFED = 9
Snippet = dict[str, str]
Trick = Callable[[str], dict[str, Any]]


def _library() -> Library:
    return open_library(find_archive())


def _find(statement: str) -> list[QuotablePassage]:
    """Quotes of variant 0; any passage if it has none."""
    library = _library()
    return library.choose(statement, RULES.max_snippets, 0) or library.passages[: RULES.max_snippets]


def _format_snippet(url: str, excerpt: str) -> Snippet:
    return {"url": url, "excerpt": excerpt}


def _spoil(change: Callable[[QuotablePassage, str], Snippet]) -> Trick:
    """A trick that changes each honest quote in the same way."""

    def spoil(statement: str) -> dict[str, Any]:
        return {"snippets": [change(passage, statement) for passage in _find(statement)]}

    return spoil


def _quote_page(url: str) -> Trick:
    """A trick that quotes a page nobody should quote, word for word."""
    return lambda _: {
        "snippets": [_format_snippet(url, text) for text in _load_sentences(url, hidden=False)[: RULES.max_snippets]]
    }


@cache
def _load_sentences(url: str, hidden: bool) -> tuple[str, ...]:
    """The sentences of one page: those that readers see, or those that only its markup has."""
    pages = ArchivePages(find_archive())
    try:
        page = pages.read(url)
    finally:
        pages.close()
    seen = tuple(split_quotable(page.text))
    return tuple(text for text in split_quotable(page.full) if text not in seen) if hidden else seen


def _invent(statement: str) -> Iterator[Snippet]:
    """Quotes that nobody wrote, on real pages."""
    claim = statement.strip().rstrip(".!?")
    for place, passage in enumerate(_find(statement)):
        yield _format_snippet(passage.url, INVENTED[place % len(INVENTED)].format(claim))


def _forge(statement: str) -> dict[str, Any]:
    """Quotes with a word that turns them, and one that stands where no reader sees it."""
    turned = [_format_snippet(one.url, forge_meaning(one.text)) for one in _find(statement)[: RULES.max_snippets - 1]]
    return {
        "snippets": [*turned, *(_format_snippet(HIDDEN, text) for text in _load_sentences(HIDDEN, hidden=True)[:1])]
    }


def _stray(statement: str) -> dict[str, Any]:
    """True quotes of what has least to do with the statement."""
    last = _library().search(statement)[::-1][: RULES.max_snippets]
    return {"snippets": [_format_snippet(one.passage.url, one.passage.text) for one in last]}


def _hoard(statement: str) -> dict[str, Any]:
    """The five best sentences of the best domain."""
    found = [one.passage for one in _library().search(statement)]
    own = [passage for passage in found if passage.domain == found[0].domain][: RULES.max_snippets]
    return {"snippets": [_format_snippet(passage.url, passage.text) for passage in own]}


def _stuff(statement: str) -> dict[str, Any]:
    """One good quote, and inventions to make it look like many."""
    good, padding = _find(statement)[0], list(_invent(statement))
    return {"snippets": [_format_snippet(good.url, good.text), *(padding * STUFFED)[: STUFFED - 1]]}


TRICKS: dict[str, Trick] = {
    "invalid": lambda statement: {"quotes": [passage.text for passage in _find(statement)]},
    "empty": lambda _: {"snippets": []},
    "malformed-url": _spoil(lambda one, _: _format_snippet(one.url.replace("://", "://me@"), one.text)),
    "insecure": _spoil(lambda one, _: _format_snippet(one.url.replace("https:", "http:"), one.text)),
    "blacklisted": _quote_page(BLACKLISTED),
    "inward": _spoil(lambda one, _: _format_snippet(f"https://127.0.0.1/{one.domain}", one.text)),
    "search-url": _spoil(lambda one, statement: _format_snippet(SEARCH + quote_plus(statement), one.text)),
    "short": _spoil(lambda one, _: _format_snippet(one.url, " ".join(one.text.split()[:3]))),
    "parrot": _spoil(lambda one, statement: _format_snippet(one.url, statement)),
    "newborn": _quote_page(NEWBORN),
    "gone": _spoil(lambda one, _: _format_snippet(GONE, one.text)),
    "unavailable": _spoil(lambda one, _: _format_snippet(UNAVAILABLE, one.text)),
    "results": _quote_page(RESULTS),
    "forger": _forge,
    "inventor": lambda statement: {"snippets": list(_invent(statement))},
    "unrelated": _stray,
    "copycat": _spoil(lambda one, _: _format_snippet(one.url, one.text)),
    "hoarder": _hoard,
    "stuffer": _stuff,
}
