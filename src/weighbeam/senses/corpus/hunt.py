"""Queries on their way through the 8-bit rows: the rows that may still be nearest, until their exact rows decide."""

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.errors import require
from weighbeam.senses.corpus.best import Best
from weighbeam.senses.corpus.check_rows import LONGEST
from weighbeam.senses.corpus.codes import encode
from weighbeam.senses.corpus.exact_dots import dot_exactly
from weighbeam.senses.corpus.index import Fetch

SLACK = 4e6
FIRST_FETCH = 32
MOST_FETCH = 2_048
MOST_WAITING = 65_536
QUERY, PLACE, UPPER, LOWER = range(4)


class Hunt:
    """A batch of queries. `floors` are products that some row is known to reach: upper bounds below them are out."""

    def __init__(self, queries: NDArray[np.int32]) -> None:
        coded = encode(queries)
        self.codes = coded.codes
        self.reaches = coded.scales * np.linalg.norm(coded.codes.astype(np.float64), axis=1)
        self.slacks = coded.errors.astype(np.float64) * LONGEST + SLACK
        self.scales = np.where(coded.scales == 0, 1.0, coded.scales.astype(np.float64))
        self.best = Best(len(queries))
        self._queries = queries
        self._floors = np.full(len(queries), -np.inf)
        self._waiting: list[NDArray[np.float64]] = []
        self._count = 0
        self._answer_zeros()

    def _answer_zeros(self) -> None:
        """All rows are equally far from a zero query: the first is its answer, and no row can beat it."""
        zero = np.flatnonzero(~self.codes.any(axis=1))
        self.best.offer(zero, np.zeros(1, np.int64), np.zeros((len(zero), 1), np.int64))
        self._floors[zero] = np.inf

    def offer(self, first: int, scaled: NDArray[np.float32], errors: NDArray[np.float32], fetch: Fetch) -> None:
        """Rows from place `first` on: upper bounds (rows, queries) in units of each query's scale, less its slack."""
        if first == 0:
            width = 2 * (float(errors.max()) * self.reaches + self.slacks)
            highest = scaled.max(axis=0) * self.scales + self.slacks
            self._floors = np.maximum(self._floors, highest - width)
        limits = np.nextafter(((self._floors - self.slacks) / self.scales).astype(np.float32), np.float32(-np.inf))
        rows, queries = np.divmod(np.flatnonzero(scaled >= limits), len(limits))
        if len(rows):
            uppers = scaled[rows, queries] * self.scales[queries] + self.slacks[queries]
            lowers = uppers - 2 * (errors[rows] * self.reaches[queries] + self.slacks[queries])
            np.maximum.at(self._floors, queries, lowers)
            self._waiting.append(np.stack([queries, first + rows, uppers, lowers]))
            self._count += len(rows)
        if self._count > MOST_WAITING:
            self.settle(fetch)

    def settle(self, fetch: Fetch) -> None:
        """Decide among the rows that wait."""
        waiting = np.concatenate([np.empty((4, 0)), *self._waiting], axis=1)
        self._waiting, self._count = [], 0
        waiting = waiting[:, waiting[UPPER] >= self._floors[waiting[QUERY].astype(np.intp)]]
        waiting = waiting[:, np.lexsort((-waiting[UPPER], waiting[QUERY]))]
        numbers, starts = np.unique(waiting[QUERY], return_index=True)
        for number, own in zip(numbers.astype(np.intp), np.split(waiting, starts[1:], axis=1), strict=False):
            self._decide(number, own, fetch)

    def _decide(self, number: np.intp, waiting: NDArray[np.float64], fetch: Fetch) -> None:
        """Score one query's rows, the most promising first, until none that is left can win."""
        start, size = 0, FIRST_FETCH
        while start < waiting.shape[1] and waiting[UPPER, start] >= self._floors[number]:
            self._score(number, waiting[:, start : start + size], fetch)
            start, size = start + size, min(4 * size, MOST_FETCH)

    def _score(self, number: np.intp, rows: NDArray[np.float64], fetch: Fetch) -> None:
        rows = rows[:, np.argsort(rows[PLACE])]
        places, query = rows[PLACE].astype(np.int64), self._queries[number][None]
        exact = fetch(places)
        whole = exact.shape == (len(places), query.shape[1])
        products = dot_exactly(query, exact) if whole else np.full((1, len(places)), -(2**62))
        sound = bool(((rows[LOWER] <= products) & (products <= rows[UPPER])).all())
        require(sound, "corpus_damaged", "rows read back are not those that were added", "restore a backup")
        self.best.offer(np.array([number]), places, products)
        self._floors[number] = max(self._floors[number], self.best.products[number])
