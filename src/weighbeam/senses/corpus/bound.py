"""The scan of 8-bit codes: a quarter of the memory, and still the exact answer.

Why no row is missed. Let q̂ and x̂ be what the codes of a query q and a row x stand for, e and r the errors' lengths.

    q·x − q̂·x̂ = q̂·(x − x̂) + (q − q̂)·x        so        |q·x − q̂·x̂| ≤ |q̂|·r + e·|x|

The integer product of the codes gives q̂·x̂, and that an upper and a lower bound of q·x. A row whose upper bound is
below the highest lower bound of all rows cannot be nearest. The others are scored from their exact rows, the highest
upper bound first, until the next one is below the best score: then none that is left can win.

The bounds are computed in float32, which rounds fewer than ten times by 2⁻²⁴ of terms that are below 2.5e12 together
(|q̂|·(|x̂| + r) at 8,192 dimensions): by less than 1.5e6. `SLACK` is more than that, and is in every bound.
"""

import numpy as np
from numpy.typing import NDArray

from weighbeam.senses.corpus.best import Best, join_found
from weighbeam.senses.corpus.blocks import cut_parts, place_rows
from weighbeam.senses.corpus.check_rows import check_dimensions, check_rows
from weighbeam.senses.corpus.codes import Codes
from weighbeam.senses.corpus.hunt import Hunt
from weighbeam.senses.corpus.index import Fetch, Found
from weighbeam.senses.corpus.multiply_codes import Multiplier, check_kernels

BLOCK_ROWS = 65_536
BATCH = 64
PART = 2_048


class BoundIndex:
    """8-bit rows in memory; `fetch` gives the exact ones."""

    def __init__(self, dimensions: int, fetch: Fetch, block_rows: int = BLOCK_ROWS) -> None:
        check_dimensions(dimensions)
        check_kernels(dimensions)
        self.dimensions = dimensions
        self._fetch = fetch
        self._block_rows = block_rows
        self._blocks: list[Codes] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, rows: NDArray[np.int32]) -> None:
        check_rows(rows, self.dimensions)
        for block, part, taken in place_rows(self._count, len(rows), self._block_rows):
            if block == len(self._blocks):
                self._blocks.append(Codes.make_room(self._block_rows, self.dimensions))
            self._blocks[block].cut(part).write(rows[taken])
        self._count += len(rows)

    def nearest(self, queries: NDArray[np.int32]) -> Found:
        check_rows(queries, self.dimensions)
        found = [self._search(queries[first : first + BATCH]) for first in range(0, len(queries), BATCH)]
        return join_found(found)

    def _search(self, queries: NDArray[np.int32]) -> Found:
        if not self._count:
            return Best(len(queries)).tell()
        hunt = Hunt(queries)
        rows = self._block_rows if len(queries) == 1 else min(PART, self._block_rows)
        multiplier = Multiplier(hunt.codes, rows)
        reaches = (hunt.reaches / hunt.scales).astype(np.float32)
        for block, start, last in cut_parts(self._count, self._block_rows, rows):
            part = self._blocks[block].cut(slice(start, last))
            uppers = np.multiply(multiplier.multiply(part.codes), part.scales[:, None], dtype=np.float32)
            uppers += part.errors[:, None] * reaches
            hunt.offer(block * self._block_rows + start, uppers, part.errors, self._fetch)
        hunt.settle(self._fetch)
        return hunt.best.tell()
