"""The scan of 8-bit codes: a quarter of the memory, and still the exact answer.

Why no row is missed. Let q̂ and x̂ be what the codes of a query q and a row x stand for, e and r the errors' lengths.

    q·x − q̂·x̂ = q̂·(x − x̂) + (q − q̂)·x        so        |q·x − q̂·x̂| ≤ |q̂|·r + e·|x|

The integer product of the codes gives q̂·x̂, and that an upper and a lower bound of q·x. A row whose upper bound is
below the highest lower bound of all rows cannot be nearest. The others are scored from their exact rows, the highest
upper bound first, until the next one is below the best score: then none that is left can win.

A product of codes may be a float32, and so are scales and errors: bounds round fewer than ten times by 2⁻²⁴ of terms
that are below 2.5e12 together (|q̂|·(|x̂| + r) at 8,192 dimensions): by less than 1.5e6. `SLACK` is more than that, and
is in every bound.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.errors import require
from weighbeam.senses.adapters.corpus.blocks import cut_parts, place_rows
from weighbeam.senses.adapters.corpus.codes import CodeMultiplier, RowCodes, check_kernels, encode_rows
from weighbeam.senses.ports.vectors import (
    MAX_LENGTH,
    BestRows,
    FetchRows,
    NearestRows,
    check_dimensions,
    check_rows,
    dot_exact,
    join_nearest,
)

SLACK = 4e6
FIRST_FETCH = 32
MAX_FETCH = 2_048
MAX_WAITING = 65_536
QUERY, PLACE, UPPER, LOWER = range(4)
MIN_SCALE = 1e-9
MAX_PRODUCT = 2.0**30
"""More than any product of codes: 8,192 · 127²."""
PRODUCT_ROUNDING = 2.0**-22
"""A product may come as a float32, and so does the limit that it is compared with."""


class CandidateSearch:
    """A batch of queries. `floors` are products that some row is known to reach: upper bounds below them are out."""

    def __init__(self, queries: NDArray[np.int32]) -> None:
        coded = encode_rows(queries)
        self.codes = coded.codes
        self.reaches = coded.scales * np.linalg.norm(coded.codes.astype(np.float64), axis=1)
        self.slacks = coded.errors.astype(np.float64) * MAX_LENGTH + SLACK
        self.scales = np.where(coded.scales == 0, 1.0, coded.scales.astype(np.float64))
        self.best = BestRows(len(queries))
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

    def offer(self, first: int, part: RowCodes, products: NDArray[Any], fetch: FetchRows) -> None:
        """Rows from place `first` on, by the products (rows, queries) of their codes."""
        if first == 0:
            self._raise_floors(part, products)
        rows, queries = np.divmod(np.flatnonzero(products >= self._limit(part, products.dtype)), len(self.codes))
        if len(rows):
            middles = products[rows, queries] * part.scales[rows].astype(np.float64) * self.scales[queries]
            widths = part.errors[rows] * self.reaches[queries] + self.slacks[queries]
            np.maximum.at(self._floors, queries, middles - widths)
            found = np.stack([queries, first + rows, middles + widths, middles - widths])
            self._waiting.append(found[:, found[UPPER] >= self._floors[queries]])
            self._count += self._waiting[-1].shape[1]
        if self._count > MAX_WAITING:
            self.settle(fetch)

    def _raise_floors(self, part: RowCodes, products: NDArray[Any]) -> None:
        """To the highest lower bound of the first rows, so that few of them have to wait."""
        lowers = products * part.scales.astype(np.float64)[:, None] * self.scales
        lowers -= part.errors[:, None] * self.reaches
        self._floors = np.maximum(self._floors, lowers.max(axis=0) - self.slacks)

    def _limit(self, part: RowCodes, kind: np.dtype[Any]) -> NDArray[Any]:
        """Products of codes that no row of a part can do without: those of the largest scale and error in it.

        One comparison of each product instead of a bound of its own, which is left to the few that pass.
        """
        least = self._floors - (float(part.errors.max()) * self.reaches + self.slacks)
        steps = self.scales * max(float(part.scales.max()), MIN_SCALE)
        limits = np.minimum(np.where(least > 0, least / steps, -MAX_PRODUCT), MAX_PRODUCT)
        return np.floor(limits - np.abs(limits) * PRODUCT_ROUNDING - 1).astype(kind)

    def settle(self, fetch: FetchRows) -> None:
        """Decide among the rows that wait."""
        waiting = np.concatenate([np.empty((4, 0)), *self._waiting], axis=1)
        self._waiting, self._count = [], 0
        waiting = waiting[:, waiting[UPPER] >= self._floors[waiting[QUERY].astype(np.intp)]]
        waiting = waiting[:, np.lexsort((-waiting[UPPER], waiting[QUERY]))]
        numbers, starts = np.unique(waiting[QUERY], return_index=True)
        for number, own in zip(numbers.astype(np.intp), np.split(waiting, starts[1:], axis=1), strict=False):
            self._decide(number, own, fetch)

    def _decide(self, number: np.intp, waiting: NDArray[np.float64], fetch: FetchRows) -> None:
        """Score one query's rows, the most promising first, until none that is left can win."""
        start, size = 0, FIRST_FETCH
        while start < waiting.shape[1] and waiting[UPPER, start] >= self._floors[number]:
            self._score(number, waiting[:, start : start + size], fetch)
            start, size = start + size, min(4 * size, MAX_FETCH)

    def _score(self, number: np.intp, rows: NDArray[np.float64], fetch: FetchRows) -> None:
        rows = rows[:, np.argsort(rows[PLACE])]
        places, query = rows[PLACE].astype(np.int64), self._queries[number][None]
        exact = fetch(places)
        whole = exact.shape == (len(places), query.shape[1])
        products = dot_exact(query, exact) if whole else np.full((1, len(places)), -(2**62))
        sound = bool(((rows[LOWER] <= products) & (products <= rows[UPPER])).all())
        require(sound, "corpus_damaged", "rows read back are not those that were added", "restore a backup")
        self.best.offer(np.array([number]), places, products)
        self._floors[number] = max(self._floors[number], self.best.products[number])


BLOCK_ROWS = 65_536
BATCH = 64
PART = 2_048
PART_ALONE = 65_536


class BoundIndex:
    """8-bit rows in memory; `fetch` gives the exact ones."""

    def __init__(self, dimensions: int, fetch: FetchRows, block_rows: int = BLOCK_ROWS) -> None:
        check_dimensions(dimensions)
        check_kernels(dimensions)
        self.dimensions = dimensions
        self._fetch = fetch
        self._block_rows = block_rows
        self._blocks: list[RowCodes] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, rows: NDArray[np.int32]) -> None:
        check_rows(rows, self.dimensions)
        for block, part, taken in place_rows(self._count, len(rows), self._block_rows):
            if block == len(self._blocks):
                self._blocks.append(RowCodes.make_room(self._block_rows, self.dimensions))
            self._blocks[block].cut(part).write(rows[taken])
        self._count += len(rows)

    def nearest(self, queries: NDArray[np.int32]) -> NearestRows:
        check_rows(queries, self.dimensions)
        found = [self._search(queries[first : first + BATCH]) for first in range(0, len(queries), BATCH)]
        return join_nearest(found)

    def _search(self, queries: NDArray[np.int32]) -> NearestRows:
        if not self._count:
            return BestRows(len(queries)).tell()
        hunt = CandidateSearch(queries)
        rows = min(PART_ALONE if len(queries) == 1 else PART, self._block_rows)
        multiplier = CodeMultiplier(hunt.codes, rows)
        for block, start, last in cut_parts(self._count, self._block_rows, rows):
            part = self._blocks[block].cut(slice(start, last))
            hunt.offer(block * self._block_rows + start, part, multiplier.multiply(part.codes), self._fetch)
        hunt.settle(self._fetch)
        return hunt.best.tell()
