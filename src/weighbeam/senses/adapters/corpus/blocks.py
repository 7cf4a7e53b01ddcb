"""Rows live in blocks of a fixed size: growth copies nothing and never holds twice what it needs, as doubling would."""

import mmap
from collections.abc import Iterator
from contextlib import suppress
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.number)
FOLD = 32


def make_block(rows: int, dimensions: int, kind: type[Number]) -> NDArray[Number]:
    """Zeros in a mapping of their own, in large pages where the system has them.

    The system gets it back the moment the array is dropped. What `malloc` hands out it may keep: then an index that has
    changed to smaller rows would still hold the larger ones.
    """
    size = rows * dimensions * np.dtype(kind).itemsize
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, kind).reshape(rows, dimensions)


def place_rows(count: int, added: int, block_rows: int) -> Iterator[tuple[int, slice, slice]]:
    """Where `added` rows go behind `count` others: a block's number, the part of it, and which of the rows.

    >>> [(block, part.start, part.stop, rows.start, rows.stop) for block, part, rows in place_rows(3, 4, 5)]
    [(0, 3, 5, 0, 2), (1, 0, 2, 2, 4)]
    """
    for block, first, last in cut_parts(count + added, block_rows, block_rows):
        start = max(first, count - block * block_rows)
        if start < last:
            begun = block * block_rows - count
            yield block, slice(start, last), slice(begun + start, begun + last)


def cut_parts(count: int, block_rows: int, limit: int) -> Iterator[tuple[int, int, int]]:
    """`count` rows, at most `limit` at a time and never across a block's border: a block's number, first and last row.

    >>> list(cut_parts(7, 5, 3))
    [(0, 0, 3), (0, 3, 5), (1, 0, 2)]
    """
    for block in range(-(-count // block_rows)):
        filled = min(block_rows, count - block * block_rows)
        for first in range(0, filled, limit):
            yield block, first, min(first + limit, filled)


def find_highest(products: NDArray[Number]) -> NDArray[Number]:
    """The highest of each column; `FOLD` rows are laid end to end, since numpy compares long rows four times as fast.

    >>> find_highest(np.arange(128).reshape(64, 2)).tolist(), find_highest(np.arange(6).reshape(3, 2)).tolist()
    ([126, 127], [4, 5])
    """
    count, columns = products.shape
    fold = 1 if columns == 1 or count % FOLD else FOLD
    highest: NDArray[Number] = products.reshape(-1, fold * columns).max(axis=0).reshape(fold, columns).max(axis=0)
    return highest


def find_reaching(products: NDArray[Number], limits: NDArray[Number]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the products that reach their column's limit, in order; folded as above.

    >>> [each.tolist() for each in find_reaching(np.arange(6).reshape(3, 2), np.array([4, 3]))]
    [[1, 2, 2], [1, 0, 1]]
    """
    count, columns = products.shape
    fold = 1 if columns == 1 or count % FOLD else FOLD
    reaching = products.reshape(-1, fold * columns) >= np.tile(limits, fold)
    return np.divmod(np.flatnonzero(reaching), columns)
