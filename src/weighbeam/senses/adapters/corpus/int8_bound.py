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
from weighbeam.senses.adapters.corpus.blocks import cut_parts, find_reaching, place_rows
from weighbeam.senses.adapters.corpus.codes import CodeMultiplier, RowCodes, check_kernels, encode_rows
from weighbeam.senses.ports.vectors import (
    MAX_LENGTH,
    BestRows,
    FetchRows,
    NearestRows,
    check_dimensions,
    check_rows,
    dot_pairs,
    join_nearest,
)

SLACK = 4e6
FIRST_FETCH = 32
MAX_FETCH = 128
"""So many rows are asked for at once; those of a mapped file bring their neighbours into memory."""
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
        rows, queries = find_reaching(products, self._limit(part, products.dtype))
        if len(rows):
            self._wait(first, part, rows, queries, products[rows, queries])
        if self._count > MAX_WAITING:
            self.settle(fetch)

    def _wait(
        self, first: int, part: RowCodes, rows: NDArray[np.intp], queries: NDArray[np.intp], products: NDArray[Any]
    ) -> None:
        """Rows with a bound each, unless another is known to be nearer."""
        middles = products * part.scales[rows].astype(np.float64) * self.scales[queries]
        widths = part.errors[rows] * self.reaches[queries] + self.slacks[queries]
        np.maximum.at(self._floors, queries, middles - widths)
        near = np.flatnonzero(middles + widths >= self._floors[queries])
        if len(near):
            middles, widths = middles[near], widths[near]
            self._waiting.append(np.stack([queries[near], first + rows[near], middles + widths, middles - widths]))
            self._count += len(near)

    def _raise_floors(self, part: RowCodes, products: NDArray[Any]) -> None:
        """To the lower bound of the likeliest of the first rows, so that few of them have to wait."""
        likeliest = (products * part.scales[:, None]).argmax(axis=0)
        middles = products[likeliest, np.arange(len(likeliest))] * part.scales[likeliest].astype(np.float64)
        lowers = middles * self.scales - part.errors[likeliest] * self.reaches
        self._floors = np.maximum(self._floors, lowers - self.slacks)

    def _limit(self, part: RowCodes, kind: np.dtype[Any]) -> NDArray[Any]:
        """Products of codes that no row of a part can do without: those of the largest scale and error in its block.

        One comparison of each product instead of a bound of its own, which is left to the few that pass.
        """
        scale, error = part.most.tolist()
        least = self._floors - (error * self.reaches + self.slacks)
        steps = self.scales * max(scale, MIN_SCALE)
        limits = np.minimum(np.where(least > 0, least / steps, -MAX_PRODUCT), MAX_PRODUCT)
        return np.floor(limits - np.abs(limits) * PRODUCT_ROUNDING - 1).astype(kind)

    def settle(self, fetch: FetchRows) -> None:
        """Decide among the rows that wait: the most promising of each query first, until none that is left can win."""
        waiting = self._drop(np.concatenate([np.empty((4, 0)), *self._waiting], axis=1))
        waiting = waiting[:, np.lexsort((-waiting[UPPER], waiting[QUERY]))]
        self._waiting, self._count, size = [], 0, FIRST_FETCH
        while waiting.shape[1]:
            turns = np.arange(waiting.shape[1]) - np.searchsorted(waiting[QUERY], waiting[QUERY])
            self._score(waiting[:, turns < size], fetch)
            waiting, size = self._drop(waiting[:, turns >= size]), 4 * size

    def _drop(self, waiting: NDArray[np.float64]) -> NDArray[np.float64]:
        """Without the rows that can no longer win."""
        return waiting[:, waiting[UPPER] >= self._floors[waiting[QUERY].astype(np.intp)]]

    def _score(self, waiting: NDArray[np.float64], fetch: FetchRows) -> None:
        """Exact products, each row read once for all queries that it waits for."""
        for start in range(0, waiting.shape[1], MAX_FETCH):
            rows = waiting[:, start : start + MAX_FETCH]
            numbers, places = rows[[QUERY, PLACE]].astype(np.int64)
            asked, which = np.unique(places, return_inverse=True)
            exact = fetch(asked)
            whole = exact.shape == (len(asked), self._queries.shape[1])
            products = dot_pairs(self._queries[numbers], exact[which]) if whole else np.full(len(places), -(2**62))
            sound = bool(((rows[LOWER] <= products) & (products <= rows[UPPER])).all())
            require(sound, "corpus_damaged", "rows read back are not those that were added", "restore a backup")
            self.best.offer_pairs(numbers, places, products)
            self._floors = np.maximum(self._floors, self.best.products)


BLOCK_ROWS = 65_536
BATCH = 64
PART = 4_096
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
