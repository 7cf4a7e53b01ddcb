"""Which index to use: the plain scan while it is small, 8-bit bounds once memory and its bandwidth count."""

import sys
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.corpus.flat import FlatIndex
from weighbeam.senses.adapters.corpus.int8_bound import BoundIndex
from weighbeam.senses.ports.vectors import FetchRows, NearestRows, VectorIndex

SWITCH_ROWS = 100_000

Scan = Literal["auto", "flat", "int8-bound"]


class GrowingIndex:
    """A flat index that becomes an 8-bit one at `switch_rows`; the answers are the same before and after."""

    def __init__(self, dimensions: int, fetch: FetchRows, switch_rows: int = SWITCH_ROWS) -> None:
        self.dimensions = dimensions
        self._fetch, self._switch_rows = fetch, switch_rows
        self._index: FlatIndex | BoundIndex = FlatIndex(dimensions)

    def __len__(self) -> int:
        return len(self._index)

    @property
    def scan(self) -> Scan:
        return "flat" if isinstance(self._index, FlatIndex) else "int8-bound"

    def add(self, rows: NDArray[np.int32]) -> None:
        self._index.add(rows)
        if isinstance(self._index, FlatIndex) and len(self._index) >= self._switch_rows:
            try:
                self._index = self._switch(self._index)
            except WeighbeamError as fault:
                if fault.code != "kernel_fault":
                    raise
                self._switch_rows = sys.maxsize

    def nearest(self, queries: NDArray[np.int32]) -> NearestRows:
        return self._index.nearest(queries)

    def _switch(self, flat: FlatIndex) -> BoundIndex:
        """The rows as 8-bit codes. What stops it halfway leaves an empty index, never one that lacks some rows."""
        bound = BoundIndex(self.dimensions, self._fetch)
        try:
            for rows in flat.drain():
                bound.add(rows)
        except BaseException:
            self._index = FlatIndex(self.dimensions)
            raise
        return bound


def open_index(dimensions: int, scan: Scan = "auto", fetch: FetchRows | None = None) -> VectorIndex:
    """An empty index. Without `fetch` nothing but the index holds the rows, so `auto` stays `flat`.

    >>> index = open_index(2)
    >>> index.add(np.array([[600_000, 800_000], [0, 1_000_000]], np.int32))
    >>> [each.tolist() for each in index.nearest(np.array([[0, 1_000_000]], np.int32))]
    [[1], [1000000000000]]
    """
    if scan == "flat" or (scan == "auto" and fetch is None):
        return FlatIndex(dimensions)
    if scan not in ("auto", "int8-bound"):
        raise WeighbeamError("bad_scan", f"there is no scan called {scan!r}", "use auto, flat or int8-bound")
    if fetch is None:
        raise WeighbeamError("bad_scan", "int8-bound needs a place to read exact rows from", "give fetch, or use flat")
    return GrowingIndex(dimensions, fetch) if scan == "auto" else BoundIndex(dimensions, fetch)
