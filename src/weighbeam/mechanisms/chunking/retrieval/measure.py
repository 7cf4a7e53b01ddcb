"""How much of the passages that answer a question comes back, over ranges of characters (spec § 17). Pure.

Recall, precision and IoU are those of Chroma's evaluation of chunkers: overlapping chunks are read twice and so count
twice in what was retrieved, and once in what was found.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from operator import itemgetter
from typing import Any

from weighbeam.core.numbers import round_significant

Span = tuple[int, int]
Places = Sequence[Span | None]
"""Where each chunk lies in the document; None for a chunk without words, which is never retrieved."""


@dataclass(frozen=True, slots=True)
class RetrievalFigures:
    """Shares from 0 to 1, for one question or as a mean over several."""

    recall: float
    precision: float
    iou: float

    def as_json(self) -> dict[str, float]:
        return asdict(self)


def rank_chunks(similarities: Sequence[int], places: Places) -> list[int]:
    """The chunks with words, most similar first, the earlier of equals first.

    >>> rank_chunks([200, 900, 200, 950], [(0, 5), (5, 9), (9, 12), None])
    [1, 0, 2]
    """
    worded = [number for number, place in enumerate(places) if place is not None]
    return sorted(worded, key=lambda number: (-similarities[number], number))


def take_chunks(order: Sequence[int], places: Places, limit: int) -> list[Span]:
    """The first `limit` of a ranking."""
    return [place for number in order[:limit] if (place := places[number]) is not None]


def fill_budget(order: Sequence[int], places: Places, costs: Sequence[int], budget: int) -> list[Span]:
    """Chunks in the order of a ranking until their costs fill the budget; of the last, the share that still fits.

    >>> fill_budget([1, 0], [(0, 40), (40, 100)], [40, 60], 80)
    [(40, 100), (0, 20)]
    """
    taken: list[Span] = []
    for number in order:
        place, cost = places[number], costs[number]
        if budget <= 0:
            break
        if place is not None:
            start, end = place
            taken.append((start, end if cost <= budget else start + (end - start) * budget // cost))
        budget -= cost
    return [span for span in taken if span[0] < span[1]]


def measure_early(
    gold: Sequence[Span], order: Sequence[int], places: Places, costs: Sequence[int], budget: int
) -> float:
    """Recall averaged over every budget from nothing to `budget`, chunks being read whole: a passage counts the more,
    the less has to be read until it is found.

    >>> measure_early([(10, 20)], [1, 0], [(0, 15), (15, 30)], [15, 15], 60)
    0.625
    """
    left = merge_spans(gold)
    asked, spent, worth = _sum_lengths(left), 0, 0
    for number in order:
        place = places[number]
        spent += costs[number]
        if spent >= budget or place is None:
            break
        worth += _take_away(left, place) * (budget - spent)
    return worth / (budget * asked)


def measure_ranges(gold: Sequence[Span], taken: Sequence[Span]) -> RetrievalFigures:
    """The ranges taken, held against the passages that answer the question.

    >>> measure_ranges([(10, 20)], [(0, 15), (40, 45)])
    RetrievalFigures(recall=0.5, precision=0.25, iou=0.2)
    """
    wanted, found = merge_spans(gold), merge_spans(taken)
    hit = _sum_overlap(wanted, found)
    asked, read = _sum_lengths(wanted), _sum_lengths(taken)
    return RetrievalFigures(hit / asked, hit / read if read else 0.0, hit / (read + asked - hit))


def merge_spans(spans: Sequence[Span]) -> list[Span]:
    """
    >>> merge_spans([(8, 9), (0, 4), (3, 6)])
    [(0, 6), (8, 9)]
    """
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _take_away(left: list[Span], place: Span) -> int:
    """Take a place out of spans that lie apart, in order; how much of them it was. No more than those it meets are
    looked at, since an answer may have thousands of places.

    >>> left = [(0, 6), (8, 9)]
    >>> _take_away(left, (4, 8)), left
    (2, [(0, 4), (8, 9)])
    """
    start, end = place
    first, last = bisect_right(left, start, key=itemgetter(1)), bisect_left(left, end, key=itemgetter(0))
    met = left[first:last]
    if not met:
        return 0
    rest = [(met[0][0], start), (end, met[-1][1])]
    left[first:last] = [span for span in rest if span[0] < span[1]]
    return _sum_lengths(met) - sum(max(0, span[1] - span[0]) for span in rest)


def _sum_overlap(one: Sequence[Span], other: Sequence[Span]) -> int:
    return sum(max(0, min(a[1], b[1]) - max(a[0], b[0])) for a in one for b in other)


def _sum_lengths(spans: Sequence[Span]) -> int:
    return sum(end - start for start, end in spans)


def average_figures(figures: Sequence[RetrievalFigures]) -> RetrievalFigures:
    """The mean of each figure; `math.fsum` rounds once, so that no order of questions matters."""
    count = len(figures)
    return RetrievalFigures(
        math.fsum(one.recall for one in figures) / count,
        math.fsum(one.precision for one in figures) / count,
        math.fsum(one.iou for one in figures) / count,
    )


def average_early(found: Sequence[float]) -> float:
    """The retrieval of a chunking, rounded like a reward."""
    return round_significant(math.fsum(found) / len(found))


@dataclass(frozen=True, slots=True)
class RankedChunking:
    """A chunking as retrieval sees it: where its chunks lie, and their ranking by each question."""

    places: Places
    rankings: Sequence[Sequence[int]]

    @classmethod
    def rank(cls, places: Places, similarities: Sequence[Sequence[int]]) -> "RankedChunking":
        """`similarities` are in millionths: one row per question, one number per chunk."""
        return cls(places, [rank_chunks(row, places) for row in similarities])

    def measure_first(self, gold: Sequence[Sequence[Span]], limit: int) -> list[RetrievalFigures]:
        """Figures of each question at `limit` chunks."""
        taken = [take_chunks(order, self.places, limit) for order in self.rankings]
        return [measure_ranges(spans, found) for spans, found in zip(gold, taken, strict=True)]

    def measure_within(
        self, gold: Sequence[Sequence[Span]], costs: Sequence[int], budget: int
    ) -> list[RetrievalFigures]:
        """Figures of each question within a budget of characters or tokens, whichever `costs` counts."""
        taken = [fill_budget(order, self.places, costs, budget) for order in self.rankings]
        return [measure_ranges(spans, found) for spans, found in zip(gold, taken, strict=True)]

    def measure_early(self, gold: Sequence[Sequence[Span]], costs: Sequence[int], budget: int) -> list[float]:
        """Recall of each question, averaged over every budget up to this one."""
        pairs = zip(gold, self.rankings, strict=True)
        return [measure_early(spans, order, self.places, costs, budget) for spans, order in pairs]


def parse_spans(rows: Sequence[Any]) -> list[Span | None]:
    """Recorded spans, which JSON keeps as lists."""
    return [None if row is None else (row[0], row[1]) for row in rows]
