"""Exact search over unit vectors: row checks, exact dot products, the index protocol and the best rows found so far.

Σ|qᵢxᵢ| ≤ |q|·|x| < 1.0003e12 for rows that `check_rows` lets pass, and so is every partial sum, in any order. Float64
holds each of them, being integers below 2⁵³: the fastest product there is gives the integer.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.errors import require
from weighbeam.core.exact import square_rows
from weighbeam.core.quantise import MILLION

MAX_LENGTH = 1_000_100
MIN_LENGTH = 999_900
MAX_DIMENSIONS = 8192
ROWS_REMEDY = "pass vectors from unit_millionths"


def check_dimensions(dimensions: int) -> None:
    """Up to 8,192 the bounds are tight enough to be of use, and no integer sum comes near the end of its type."""
    require(1 <= dimensions <= MAX_DIMENSIONS, "bad_row", f"{dimensions} dimensions", f"give 1 to {MAX_DIMENSIONS:,}")


def check_rows(rows: NDArray[np.int32], dimensions: int) -> None:
    """Refuse what is not (n, `dimensions`) of int32 with each row's length within 1e-4 of 1, or 0."""
    require(
        isinstance(rows, np.ndarray) and rows.dtype == np.int32, "bad_row", "rows are not an int32 array", ROWS_REMEDY
    )
    shape = f"rows have the shape {rows.shape}, not (n, {dimensions})"
    require(rows.ndim == 2 and rows.shape[1] == dimensions, "bad_row", shape, ROWS_REMEDY)
    if not len(rows):
        return
    inside = int(rows.min()) >= -MILLION and int(rows.max()) <= MILLION
    require(inside, "bad_row", "a component is outside ±1,000,000 millionths", ROWS_REMEDY)
    squares = square_rows(rows)
    unit = (squares >= MIN_LENGTH**2) & (squares <= MAX_LENGTH**2)
    sound = unit | (squares == 0)
    first = int(np.argmin(sound))
    length = float(np.sqrt(float(squares[first]))) / MILLION
    require(bool(sound[first]), "bad_row", f"row {first} has the length {length:.6f}, neither 1 nor 0", ROWS_REMEDY)


def dot_exact(queries: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.int64]:
    """Products (queries, rows) of integers in millionths, given in any type.

    >>> dot_exact(np.array([[600000, 800000]]), np.array([[800000, 600000], [0, -1000000]])).tolist()
    [[960000000000, -800000000000]]
    """
    products: NDArray[np.float64] = queries.astype(np.float64) @ rows.astype(np.float64).T
    return products.astype(np.int64)


def dot_pairs(queries: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.int64]:
    """The product of each query with the row beside it, as `dot_exact` gives it.

    >>> dot_pairs(np.array([[600000, 800000]] * 2), np.array([[800000, 600000], [0, -1000000]])).tolist()
    [960000000000, -800000000000]
    """
    products: NDArray[np.float64] = np.vecdot(queries.astype(np.float64), rows.astype(np.float64))
    return products.astype(np.int64)


NO_ROW = -1

NearestRows = tuple[NDArray[np.int64], NDArray[np.int64]]
"""The place of each query's nearest row, and their dot product in units of 1e-12."""

FetchRows = Callable[[NDArray[np.int64]], NDArray[np.int32]]
"""Exact rows by place, in the order asked for. A row must be there before it is added to the index."""


class VectorIndex(Protocol):
    """Unit vectors in millionths, numbered from 0 in the order they were added.

    One thread at a time: the ledger's lock already orders whatever adds and asks.
    """

    @property
    def dimensions(self) -> int: ...

    def __len__(self) -> int: ...

    def add(self, rows: NDArray[np.int32]) -> None:
        """Append `rows` (n, d). The next query sees them; rows that are refused leave the index as it was."""

    def nearest(self, queries: NDArray[np.int32]) -> NearestRows:
        """The nearest row of each query (m, d), ties to the lowest place; place −1 and product 0 in an empty index."""


BELOW_ALL = -(2**62)


class BestRows:
    """Places and exact products; `BELOW_ALL` where nothing has been found."""

    def __init__(self, queries: int) -> None:
        self.places = np.full(queries, NO_ROW, np.int64)
        self.products = np.full(queries, BELOW_ALL, np.int64)

    def offer(self, numbers: NDArray[np.intp], places: NDArray[np.int64], products: NDArray[np.int64]) -> None:
        """Rows at ascending `places` for the queries of these `numbers`; of equal products the lowest place wins.

        >>> best = BestRows(1)
        >>> best.offer(np.array([0]), np.array([4, 6]), np.array([[7, 7]]))
        >>> best.offer(np.array([0]), np.array([2, 9]), np.array([[7, 5]]))
        >>> [each.tolist() for each in best.tell()]
        [[2], [7]]
        """
        column = products.argmax(axis=1)
        self._take(numbers, places[column], products[np.arange(len(numbers)), column])

    def offer_pairs(self, numbers: NDArray[np.int64], places: NDArray[np.int64], products: NDArray[np.int64]) -> None:
        """One row for one query each, in any order.

        >>> best = BestRows(2)
        >>> best.offer_pairs(np.array([0, 1, 0]), np.array([6, 5, 4]), np.array([7, 3, 7]))
        >>> [each.tolist() for each in best.tell()]
        [[4, 5], [7, 3]]
        """
        order = np.lexsort((places, -products, numbers))
        found, first = np.unique(numbers[order], return_index=True)
        self._take(found, places[order[first]], products[order[first]])

    def _take(self, numbers: NDArray[np.intp], place: NDArray[np.int64], highest: NDArray[np.int64]) -> None:
        known = self.products[numbers]
        better = (highest > known) | ((highest == known) & (place < self.places[numbers]))
        self.products[numbers[better]] = highest[better]
        self.places[numbers[better]] = place[better]

    def tell(self) -> NearestRows:
        return self.places, np.where(self.places == NO_ROW, 0, self.products)


def join_nearest(found: list[NearestRows]) -> NearestRows:
    """Batches one after the other."""
    none = np.empty(0, np.int64)
    return np.concatenate([none, *(places for places, _ in found)]), np.concatenate(
        [none, *(dots for _, dots in found)]
    )
