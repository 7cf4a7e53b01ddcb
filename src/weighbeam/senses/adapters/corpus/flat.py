"""The plain scan: float32 rows in blocks of fixed size, read once per query at the speed of memory.

Why no row is missed. Components are integers of at most 10⁶, exact in float32. A float32 dot product of d terms, added
in any order and fused or not, is off by at most γ·Σ|qᵢxᵢ| with γ = n·u / (1 − n·u), u = 2⁻²⁴ and n = d (Higham,
*Accuracy and Stability of Numerical Algorithms*, § 3.1; integers never underflow); n = d + 1 allows for a kernel that
rounds its result once more. Σ|qᵢxᵢ| ≤ |q|·|x|. So with ε = γ·|q|·max|x|:

- a row beats the best integer product found so far only if its float32 product is above best − ε;
- a row is the best of its block only if its float32 product is at least the block's highest − 2ε.

Every row that meets both is scored in integers before the next block is looked at. At d = 384, ε is 2.3e-5: rows are
scored by the handful. If all rows are near-ties, all are scored, a part of a block at a time: slower by a constant,
and in no more memory.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.senses.adapters.corpus.blocks import cut_parts, find_highest, make_block, place_rows
from weighbeam.senses.adapters.onnx import FLOAT, OnnxGraph, OnnxNode, OnnxValue, encode_model, open_session
from weighbeam.senses.ports.vectors import (
    MAX_LENGTH,
    BestRows,
    NearestRows,
    check_dimensions,
    check_rows,
    dot_exact,
    join_nearest,
)

BLOCK_ROWS = 16_384
BATCH = 64
PART = 2_048
UNIT_ROUNDOFF = 2.0**-24


class FlatIndex:
    """Float32 rows in memory. One query is a product per row, read in order; a batch is a matrix product per part."""

    def __init__(self, dimensions: int, block_rows: int = BLOCK_ROWS) -> None:
        check_dimensions(dimensions)
        self.dimensions = dimensions
        self._block_rows = block_rows
        self._blocks: list[NDArray[np.float32]] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, rows: NDArray[np.int32]) -> None:
        check_rows(rows, self.dimensions)
        for block, part, taken in place_rows(self._count, len(rows), self._block_rows):
            if block == len(self._blocks):
                self._blocks.append(make_block(self._block_rows, self.dimensions, np.float32))
            self._blocks[block][part] = rows[taken]
        self._count += len(rows)

    def nearest(self, queries: NDArray[np.int32]) -> NearestRows:
        check_rows(queries, self.dimensions)
        found = [self._search(queries[first : first + BATCH]) for first in range(0, len(queries), BATCH)]
        return join_nearest(found)

    def drain(self) -> Iterator[NDArray[np.int32]]:
        """The rows in order, each block let go as soon as it has been given: the index is empty afterwards."""
        left, self._count = self._count, 0
        while self._blocks:
            block = self._blocks.pop(0)
            for _, first, last in cut_parts(min(left, len(block)), len(block), PART):
                yield block[first:last].astype(np.int32)
            left -= len(block)

    def _search(self, queries: NDArray[np.int32]) -> NearestRows:
        alone = len(queries) == 1
        rows = self._block_rows if alone else min(PART, self._block_rows)
        floats, error, best = queries.astype(np.float32), bound_error(queries), BestRows(len(queries))
        columns = np.ascontiguousarray(floats.T)
        for number, start, last in cut_parts(self._count, self._block_rows, rows):
            first, part = number * self._block_rows + start, self._blocks[number][start:last]
            scores = np.vecdot(part, floats[0])[:, None] if alone else multiply_rows(part, columns)
            highest = find_highest(scores).astype(np.float64)
            hit = np.flatnonzero(highest > best.products - error)
            if len(hit):
                floor = np.maximum(highest - 2 * error, best.products - error)[hit]
                near = np.flatnonzero((scores[:, hit] >= floor).any(axis=1))
                _settle(queries, hit, part, near, first, best)
        return best.tell()


def multiply_rows(rows: NDArray[np.float32], columns: NDArray[np.float32]) -> NDArray[np.float32]:
    """Products of many rows with a few columns: numpy's own copies the rows first, and takes an eighth longer.

    >>> multiply_rows(np.eye(2, dtype=np.float32), np.array([[1, 2], [3, 4]], np.float32)).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    products: NDArray[np.float32] = _open_multiplier().run(None, {"rows": rows, "columns": columns})[0]
    return products


@cache
def _open_multiplier() -> Any:
    taken = [OnnxValue("rows", FLOAT, ["count", "width"]), OnnxValue("columns", FLOAT, ["width", "queries"])]
    product = OnnxNode("MatMul", ["rows", "columns"], "products")
    given = OnnxValue("products", FLOAT, ["count", "queries"])
    return open_session(encode_model(OnnxGraph("products", [product], {}, taken, [given])))


def _settle(
    queries: NDArray[np.int32],
    hit: NDArray[np.intp],
    part: NDArray[np.float32],
    near: NDArray[np.intp],
    first: int,
    best: BestRows,
) -> None:
    """Score the rows that are near for one of the queries hit, for all of those."""
    for start in range(0, len(near), PART):
        rows = near[start : start + PART]
        best.offer(hit, first + rows, dot_exact(queries[hit], part[rows]))


def bound_error(queries: NDArray[np.int32]) -> NDArray[np.float64]:
    """ε of each query, a little widened for the rounding of ε itself and of what it is compared with.

    >>> bound_error(np.eye(1, 384, dtype=np.int32) * 1_000_000).round(-6).tolist()
    [23000000.0]
    """
    terms = (queries.shape[1] + 1) * UNIT_ROUNDOFF
    lengths = np.sqrt(np.square(queries, dtype=np.float64).sum(axis=1))
    error: NDArray[np.float64] = lengths * (MAX_LENGTH * terms / (1 - terms) * (1 + 1e-6))
    return error
