"""The port of an exact index: rows go in, the nearest row of a query comes out."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

NOWHERE = -1

Found = tuple[NDArray[np.int64], NDArray[np.int64]]
"""The place of each query's nearest row, and their dot product in units of 1e-12."""

Fetch = Callable[[NDArray[np.int64]], NDArray[np.int32]]
"""Exact rows by place, in the order asked for. A row must be there before it is added to the index."""


class Index(Protocol):
    """Unit vectors in millionths, numbered from 0 in the order they were added.

    One thread at a time: the ledger's lock already orders whatever adds and asks.
    """

    @property
    def dimensions(self) -> int: ...

    def __len__(self) -> int: ...

    def add(self, rows: NDArray[np.int32]) -> None:
        """Append `rows` (n, d). The next query sees them; rows that are refused leave the index as it was."""

    def nearest(self, queries: NDArray[np.int32]) -> Found:
        """The nearest row of each query (m, d), ties to the lowest place; place −1 and product 0 in an empty index."""
