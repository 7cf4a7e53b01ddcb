"""Integer dot products of 8-bit codes, by the SIMD kernels of numkong (extra `corpus`)."""

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.errors import require

INSTALL = "pip install 'weighbeam[corpus]'"


class Multiplier:
    """Products of the codes of many rows with those of some queries; what it returns is overwritten by the next call.

    A single query is fastest row by row; several are a matrix product of packed codes.
    """

    def __init__(self, queries: NDArray[np.int8], most_rows: int) -> None:
        import numkong

        self._kernels: Any = numkong
        self._queries, self._most = queries, most_rows
        self._alone = len(queries) == 1
        if self._alone:
            self._room: Any = np.empty((1, most_rows), np.float32)
        else:
            self._packed = numkong.dots_pack(queries, dtype="int8")
            self._room = numkong.zeros((most_rows, len(queries)), dtype="int32")

    def multiply(self, rows: NDArray[np.int8]) -> NDArray[Any]:
        """Products (rows, queries), as float32 or int32."""
        if self._alone:
            room: NDArray[np.float32] = self._room[:, : len(rows)]
            self._kernels.cdist(self._queries, rows, "dot", out=room)
            return room.T
        room_given = {"out": self._room} if len(rows) == self._most else {}
        return np.asarray(self._kernels.dots_packed(rows, self._packed, **room_given))


def check_kernels(dimensions: int) -> None:
    """Try the kernels at extremes: the processor decides which of them run, and a wrong one would hide neighbours."""
    installed = find_spec("numkong") is not None
    require(installed, "kernel_fault", "8-bit products need numkong", f"{INSTALL}, or use the scan `flat`")
    extremes = [np.full(dimensions, 127), np.full(dimensions, -127), np.arange(-127, 128)]
    rows = np.resize(np.concatenate(extremes), (67, dimensions)).astype(np.int8)
    wanted = rows.astype(np.float64) @ rows.astype(np.float64).T
    for queries in (1, 3, 64):
        given = Multiplier(rows[:queries], len(rows)).multiply(rows)
        sound = bool(np.allclose(given, wanted[:, :queries], rtol=2.0**-24, atol=0))
        require(sound, "kernel_fault", "8-bit products are wrong on this processor", "use the scan `flat`")
