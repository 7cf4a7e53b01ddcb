"""The same places of the document for every answer of a round (spec § 5, `sampling = places`).

The document is split into sentences once and ruled into cells of three. An answer's segments are the cells as its
chunks cut them, so answers differ only where their cuts do: they share most texts, and the luck of the draw.
"""

import math
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from weighbeam.core.canonical import seeded_digest
from weighbeam.mechanism.records import Seed
from weighbeam.mechanisms.chunking.segments import Segment, squeeze

Span = Sequence[int]
CellIndices = Mapping[int, list[int]]
"""By cell, the positions of an answer's segments that lie in it."""


def draw_phase(seed: Seed, per_segment: int) -> int:
    """How many sentences the first cell has, 0 standing for all: nobody knows it before the answers are in."""
    return int(seeded_digest(seed, "phase")[:16], 16) % per_segment


def rule_cells(starts: Sequence[int], per_segment: int, phase: int) -> list[int]:
    """Where each cell begins, from where each sentence of the document does.

    >>> rule_cells([0, 10, 20, 30, 40], 3, 0), rule_cells([0, 10, 20, 30, 40], 3, 1)
    ([0, 30], [0, 10, 40])
    """
    return [0, *starts[phase or per_segment :: per_segment]]


class RuledDocument:
    """A document with its cells; each stretch of it is squeezed once however many answers have it."""

    def __init__(self, text: str, cells: Sequence[int]) -> None:
        self.text = text
        self.cells = cells
        self._squeezed: dict[tuple[int, int], str] = {}

    def cut(self, spans: Sequence[Span | None]) -> tuple[list[Segment], list[int]]:
        """The segments of an answer whose chunks lie at `spans`, and the cell of each.

        >>> RuledDocument("One. Two. Six. Ten.", [0, 10]).cut([(0, 5), (5, 19)])[1]
        [0, 0, 1]
        """
        segments: list[Segment] = []
        cell_of: list[int] = []
        for chunk, span in enumerate(spans):
            if span is None:
                continue
            start, end = span
            first, last = bisect_right(self.cells, start), bisect_left(self.cells, end)
            edges = [start, *self.cells[first:last], end]
            for number, stretch in enumerate(pairwise(edges), first - 1):
                if text := self._squeeze(stretch):
                    segments.append(Segment(chunk, text))
                    cell_of.append(number)
        return segments, cell_of

    def _squeeze(self, stretch: tuple[int, int]) -> str:
        text = self._squeezed.get(stretch)
        if text is None:
            text = self._squeezed[stretch] = squeeze(self.text[slice(*stretch)])
        return text


def sample_places(
    answers: Sequence[tuple[Sequence[Segment], Sequence[int]]], seed: Seed, limit: int | None
) -> list[list[int]]:
    """For each answer's segments and their cells, the indices to embed: those of the first cells in seeded order.

    A text costs 1, shared by the answers that take it in the same cell, and nothing once it is embedded. An answer goes
    through the cells until its costs reach `limit`; of the cell that would exceed it, it takes as many segments as fit.
    So a round embeds at most `limit` texts per answer, and an answer in crumbs spends its own share only.
    """
    if limit is None:
        return [list(range(len(segments))) for segments, _ in answers]
    by_cell = [_list_cells(cell_of) for _, cell_of in answers]
    cells = sorted({cell for one in by_cell for cell in one}, key=lambda cell: seeded_digest(seed, "cell", cell))
    texts = [[segment.text for segment in segments] for segments, _ in answers]
    walk = _Walk(texts, by_cell, limit)
    for cell in cells:
        walk.enter(cell)
    return [sorted(taken) for taken in walk.taken]


def _list_cells(cell_of: Iterable[int]) -> CellIndices:
    found: dict[int, list[int]] = defaultdict(list)
    for index, cell in enumerate(cell_of):
        found[cell].append(index)
    return found


class _Walk:
    """All answers on their way through the cells. Costs are counted in a unit that every share is a multiple of."""

    def __init__(self, texts: Sequence[Sequence[str]], by_cell: Sequence[CellIndices], limit: int) -> None:
        self.texts = texts
        self.by_cell = by_cell
        self.unit = math.lcm(*range(1, len(texts) + 1))
        self.left = [limit * self.unit] * len(texts)
        self.walking = set(range(len(texts)))
        self.embedded: set[str] = set()
        self.taken: list[list[int]] = [[] for _ in texts]

    def enter(self, cell: int) -> None:
        """Let everyone who can pay for it take this cell; who cannot takes what still fits and stops here."""
        here = {answer: found for answer in self.walking if (found := self.by_cell[answer].get(cell))}
        costs = self._share(here)
        while over := [answer for answer, cost in costs.items() if cost > self.left[answer]]:
            for answer in over:
                self.walking.remove(answer)
                self._take(answer, here.pop(answer)[: self.left[answer] // self.unit])
            costs = self._share(here)
        for answer, indices in here.items():
            self.left[answer] -= costs[answer]
            self._take(answer, indices)

    def _take(self, answer: int, indices: Sequence[int]) -> None:
        self.taken[answer] += indices
        self.embedded.update(self.texts[answer][i] for i in indices)

    def _share(self, here: Mapping[int, Sequence[int]]) -> dict[int, int]:
        """Cost of each answer's texts in this cell that are not embedded yet."""
        new = {answer: {self.texts[answer][i] for i in indices} - self.embedded for answer, indices in here.items()}
        sharers = Counter(text for texts in new.values() for text in texts)
        return {answer: sum(self.unit // sharers[text] for text in texts) for answer, texts in new.items()}
