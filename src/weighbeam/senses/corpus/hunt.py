"""One query on its way through the 8-bit rows: the rows that may still be nearest, until their exact rows decide."""

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
MOST_WAITING = 16_384
ALONE = np.zeros(1, np.intp)


class Hunt:
    """`floor` is a product that some row is known to reach; rows whose upper bound is below it are out."""

    def __init__(self, query: NDArray[np.int32]) -> None:
        coded = encode(query[None])
        self.query = query
        self.codes = coded.codes[0]
        self.scale = float(coded.scales[0])
        self.reach = self.scale * float(np.linalg.norm(self.codes.astype(np.float64)))
        self.slack = float(coded.errors[0]) * LONGEST + SLACK
        self.floor = -np.inf
        self.best = Best(1)
        self._waiting: list[NDArray[np.float64]] = []
        self._count = 0

    def finish_if_zero(self) -> bool:
        """All rows are equally far from a zero query: the first is the answer, and there is no bound to compute."""
        if self.scale == 0:
            self.best.offer(ALONE, np.zeros(1, np.int64), np.zeros((1, 1), np.int64))
        return self.scale == 0

    def offer(self, first: int, scaled: NDArray[np.float32], errors: NDArray[np.float32], fetch: Fetch) -> None:
        """Rows from place `first` on, by their upper bounds in units of this query's scale, less its slack."""
        uppers = scaled.astype(np.float64) * self.scale + self.slack
        lowers = uppers - 2 * (errors.astype(np.float64) * self.reach + self.slack)
        self.floor = max(self.floor, float(lowers.max()))
        near = np.flatnonzero(uppers >= self.floor)
        self._waiting.append(np.stack([first + near, uppers[near], lowers[near]]))
        self._count += len(near)
        if self._count > MOST_WAITING:
            self.settle(fetch)

    def settle(self, fetch: Fetch) -> None:
        """Score the rows that wait, the most promising first, until none that is left can win."""
        waiting = np.concatenate([np.empty((3, 0)), *self._waiting], axis=1)
        self._waiting, self._count = [], 0
        waiting = waiting[:, waiting[1] >= self.floor]
        waiting = waiting[:, np.argsort(-waiting[1], kind="stable")]
        start, size = 0, FIRST_FETCH
        while start < waiting.shape[1] and waiting[1, start] >= self.floor:
            self._score(waiting[:, start : start + size], fetch)
            start, size = start + size, min(4 * size, MOST_FETCH)

    def _score(self, rows: NDArray[np.float64], fetch: Fetch) -> None:
        rows = rows[:, np.argsort(rows[0])]
        places = rows[0].astype(np.int64)
        exact = fetch(places)
        shape = (len(places), len(self.query))
        products = dot_exactly(self.query[None], exact) if exact.shape == shape else np.empty((1, 0), np.int64)
        sound = products.size == len(places) and bool(((rows[2] <= products) & (products <= rows[1])).all())
        require(sound, "corpus_damaged", "rows read back are not those that were added", "restore a backup")
        self.best.offer(ALONE, places, products)
        self.floor = max(self.floor, float(self.best.products[0]))
