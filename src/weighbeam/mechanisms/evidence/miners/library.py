"""A searchable archive of pages: BM25 over its quotable passages."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanisms.evidence.excerpt.checks import repeats_statement
from weighbeam.mechanisms.evidence.excerpt.forms import parse_forms
from weighbeam.mechanisms.evidence.miners.passages import QuotablePassage, load_passages

FREQUENCY = 1.2
LENGTH = 0.75
STEM = 5


def split_terms(text: str) -> list[str]:
    """Words cut to their first letters, so that `tides` finds `tide` and `recycled` finds `recycling`.

    >>> split_terms("Tides rise; the tidal range")
    ['tides', 'rise', 'the', 'tidal', 'range']
    """
    return [form[:STEM] for form in parse_forms(text)]


class Bm25:
    """Texts by their words, ready to be searched."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(split_terms(text)) for text in texts]
        lengths = np.array([count.total() for count in counts], dtype=np.float64)
        self._size = len(counts)
        self._damping = FREQUENCY * (
            1 - LENGTH + LENGTH * lengths / max(1.0, float(lengths.sum()) / max(1, len(counts)))
        )
        self._places: dict[str, list[tuple[int, int]]] = {}
        for place, count in enumerate(counts):
            for term, times in count.items():
                self._places.setdefault(term, []).append((place, times))

    def score(self, question: str) -> NDArray[np.float64]:
        """One number per text; 0 for a text without any word of the question.

        >>> Bm25(["the sea", "the moon", "the sun"]).score("moon").argmax().item()
        1
        """
        scores = np.zeros(self._size)
        for term in sorted(set(split_terms(question))):
            found = self._places.get(term, [])
            if not found:
                continue
            places, times = np.array(found).T
            rarity = math.log(1 + (self._size - len(found) + 0.5) / (len(found) + 0.5))
            scores[places] += rarity * times * (FREQUENCY + 1) / (times + self._damping[places])
        return scores


VARIANTS = 3
PAGE_SHARE = 1.0
SOURCES = 2
NEAR_PAGE = 0.8
NEAR_PASSAGE = 0.5
MAX_COMMON = 0.8


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage, and how much it and its page speak of what was searched for."""

    passage: QuotablePassage
    score: float


class Library:
    """Passages by what they say. A sentence counts more on a page that speaks of the matter throughout."""

    def __init__(self, passages: list[QuotablePassage]) -> None:
        self.passages = passages
        texts: dict[str, list[str]] = {}
        for passage in passages:
            texts.setdefault(passage.url, []).append(passage.text)
        urls = {url: place for place, url in enumerate(texts)}
        self._page_of = np.array([urls[passage.url] for passage in passages], dtype=np.intp)
        self._forms = [frozenset(parse_forms(passage.text)) for passage in passages]
        self._sentences = Bm25([passage.text for passage in passages])
        self._pages = Bm25([" ".join(sentences) for sentences in texts.values()])

    def search(self, statement: str) -> list[FoundPassage]:
        """All passages, the best first, without those that only repeat the statement."""
        scores = self._sentences.score(statement) + PAGE_SHARE * self._pages.score(statement)[self._page_of]
        order = np.argsort(-scores, kind="stable").tolist()
        wanted = frozenset(parse_forms(statement))
        return [
            FoundPassage(self.passages[place], float(scores[place]))
            for place in order
            if not self._repeats(place, wanted, statement)
        ]

    def choose(self, statement: str, limit: int, variant: int, variants: int = VARIANTS) -> list[QuotablePassage]:
        """Up to `limit` passages, by turns from the best page of each domain that speaks of the statement.

        Variants divide what a page has: each takes every third passage, or whatever their number is, and begins on
        every page at another rank, so that all have some of the best and no two bring the same words.
        """
        pages = self._list_pages(self.search(statement), variants)
        ranked = [found[(variant + turn) % variants :: variants] for turn, found in enumerate(pages)]
        turns = (one.passage for row in zip_longest(*ranked) for one in row if one is not None)
        return list(turns)[:limit]

    def _repeats(self, place: int, wanted: frozenset[str], statement: str) -> bool:
        own = self._forms[place]
        if len(own & wanted) >= MAX_COMMON * len(own | wanted):
            return True
        return wanted <= own and repeats_statement(self.passages[place].text, statement)

    def _list_pages(self, found: list[FoundPassage], variants: int) -> list[list[FoundPassage]]:
        """Results page by page. Pages and passages far behind the best are left out, but one
        source is too few, and each variant shall have a passage of each."""
        best: dict[str, list[FoundPassage]] = {}
        for one in found:
            page = best.setdefault(one.passage.domain, [])
            if one.score > 0 and (not page or page[0].passage.url == one.passage.url):
                page.append(one)
        top = found[0].score if found else 0.0
        pages = [page for page in best.values() if page]
        near = [page for place, page in enumerate(pages) if place < SOURCES or page[0].score >= NEAR_PAGE * top]
        return [
            [one for place, one in enumerate(page) if place < variants or one.score >= NEAR_PASSAGE * top]
            for page in near
        ]


_LIBRARIES: dict[Path, Library] = {}
_LOCK = Lock()


def open_library(folder: Path) -> Library:
    """The library of a folder. It takes a second at first: call it in a thread."""
    with _LOCK:
        if folder not in _LIBRARIES:
            _LIBRARIES[folder] = Library(load_passages(folder))
        return _LIBRARIES[folder]
