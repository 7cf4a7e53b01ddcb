"""Integer sums and squares of rows that never round: in the fastest type that holds the result, else Python's own."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

EXACT_FLOAT = 2**53
BLOCK = 128


def widen(values: NDArray[Any], limit: float) -> NDArray[Any]:
    """The same integers in a type in which sums up to ±`limit` cannot overflow.

    >>> [widen(np.array([1]), 2**bits).dtype.name for bits in (20, 40, 80)]
    ['int32', 'int64', 'object']
    """
    if limit < 2**31:
        return values.astype(np.int32, copy=False)
    return values.astype(np.int64 if limit < 2**63 else object, copy=False)


def square_rows(rows: NDArray[Any]) -> NDArray[Any]:
    """|row|² of each row of integers.

    Float64 rounds no integer below 2⁵³, and squares only add up: a result below it never saw a rounding.

    >>> square_rows(np.array([[3, 4], [2**40, 1]])).tolist() == [25, 2**80 + 1]
    True
    """
    block, squares = np.empty((BLOCK, rows.shape[1])), np.empty(len(rows))
    for first in range(0, len(rows), BLOCK):
        part = rows[first : first + BLOCK]
        floats = block[: len(part)]
        floats[:] = part
        np.vecdot(floats, floats, out=squares[first : first + BLOCK])
    limit = squares.max(initial=0.0)
    if limit < EXACT_FLOAT:
        return squares.astype(np.int64)
    wide = widen(rows, 2 * limit)
    exact: NDArray[Any] = np.vecdot(wide, wide)
    return exact


def sum_and_square(
    table: NDArray[Any], rows: NDArray[np.intp], sizes: NDArray[np.intp]
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[Any]]:
    """`sum_runs` of a table of any integers, and |row|² of those of its rows that are named.

    Where most rows are named once, they are squared while they are in the processor's cache for the sum.

    >>> sums, at, squares = sum_and_square(np.array([[3, 4], [1, 1]], np.int32), np.array([0, 1]), np.array([2]))
    >>> sums[at].tolist(), squares.tolist()
    ([[4, 5]], [25, 2])
    """
    largest = int(sizes.max(initial=0))
    if table.dtype == np.int32 and len(rows) <= len(table):
        floats = np.zeros(len(table))
        sums, at = sum_runs(table, rows, sizes, floats)
        longest = floats.max(initial=0.0)
        # Sums that could have run over are known only now, and then they are made again below.
        if longest < EXACT_FLOAT and largest * math.isqrt(int(longest)) < 2**31:
            return sums, at, floats.astype(np.int64)
    squares = square_rows(table)
    longest = int(squares.max(initial=0))
    return *sum_runs(widen(table, largest * math.isqrt(longest)), rows, sizes), squares


def sum_runs(
    table: NDArray[Any],
    rows: NDArray[np.intp],
    sizes: NDArray[np.intp],
    squares: NDArray[np.float64] | None = None,
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Sums of the rows of `table` that `rows` names, run after run, and which of them is each run's.

    `table` must be of a type that holds the sums. Runs of equal size are added side by side, long ones in parts.
    `squares` takes |row|² of the rows named.

    >>> sums, at = sum_runs(np.array([[1, 2], [3, 4], [5, 6]]), np.array([2, 0, 2]), np.array([1, 0, 2]))
    >>> sums[at].tolist()
    [[5, 6], [0, 0], [6, 8]]
    """
    if sizes.max(initial=0) > BLOCK:
        parts = -(-sizes // BLOCK)
        return sum_runs(*sum_runs(table, rows, _cut_runs(sizes, parts), squares), parts)
    table = np.require(table, requirements=["C", "A"])
    order = np.argsort(sizes, kind="stable")
    starts = (np.cumsum(sizes) - sizes)[order]
    width = table.shape[1]
    sums, spare = np.empty((len(sizes), width), table.dtype), np.empty((BLOCK, width), table.dtype)
    floats = np.empty((0 if squares is None else BLOCK, width))
    stop = 0
    for size, count in enumerate(np.bincount(sizes).tolist()):
        if not count:
            continue
        start, stop = stop, stop + count
        named = rows[starts[start:stop] + np.arange(size)[:, None]]
        side_by_side = BLOCK // max(1, size)
        for first in range(0, count, side_by_side):
            block = named[:, first : first + side_by_side]
            part = table.take(block, axis=0, out=spare[: block.size].reshape(*block.shape, width), mode="clip")
            np.add.reduce(part, axis=0, out=sums[start + first : start + first + block.shape[1]])
            if squares is not None:
                exact = floats[: block.size]
                exact[:] = spare[: block.size]
                squares[block.ravel()] = np.vecdot(exact, exact)
    at = np.empty_like(order)
    at[order] = np.arange(len(order))
    return sums, at


def _cut_runs(sizes: NDArray[np.intp], parts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Each run in `parts` of BLOCK rows, the last of which takes what is left."""
    cut = np.full(parts.sum(), BLOCK)
    cut[np.cumsum(parts)[parts > 0] - 1] -= (-sizes % BLOCK)[parts > 0]
    return cut
