"""Rows as 8-bit codes with a scale and an error bound, and their integer dot products."""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.errors import require
from weighbeam.senses.adapters.corpus.blocks import make_block

CODE = 127
ENCODE_ROWS = 512


@dataclass(frozen=True, slots=True)
class RowCodes:
    """Row i is `scales[i]` · `codes[i]`, off by a vector that is no longer than `errors[i]`, all in millionths."""

    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    errors: NDArray[np.float32]
    most: NDArray[np.float32]
    """The greatest scale and the greatest error of the whole room that this is a part of."""

    @classmethod
    def make_room(cls, rows: int, dimensions: int) -> "RowCodes":
        return cls(make_block(rows, dimensions, np.int8), *_make_measures(rows))

    def cut(self, part: slice) -> "RowCodes":
        """A view: writing to it writes here."""
        return RowCodes(self.codes[part], self.scales[part], self.errors[part], self.most)

    def write(self, rows: NDArray[np.int32]) -> None:
        """Fill this room with `rows`, a part at a time.

        The scale is rounded to float32 first, so that the error measured is that of what is stored. Its components are
        exact in float64 and its length off by 1e-12 of itself at most; the step up to the next float32 covers that and
        the rounding to float32.
        """
        for first in range(0, len(rows), ENCODE_ROWS):
            exact = rows[first : first + ENCODE_ROWS].astype(np.float64)
            scales = (np.abs(exact).max(axis=1) / CODE).astype(np.float32)
            steps = np.where(scales == 0, 1.0, scales.astype(np.float64))[:, None]
            codes = np.rint(exact / steps)
            exact -= codes * steps
            errors = np.sqrt(np.vecdot(exact, exact)).astype(np.float32)
            last = first + len(exact)
            self.codes[first:last], self.scales[first:last] = codes, scales
            self.errors[first:last] = np.where(errors > 0, np.nextafter(errors, np.float32(np.inf)), errors)
            np.maximum(self.most, [scales.max(), self.errors[first:last].max()], out=self.most)


def _make_measures(rows: int) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    return np.empty(rows, np.float32), np.empty(rows, np.float32), np.zeros(2, np.float32)


def encode_rows(rows: NDArray[np.int32]) -> RowCodes:
    """
    >>> coded = encode_rows(np.array([[600000, -800000], [0, 0], [0, 1000000]], np.int32))
    >>> coded.codes.tolist(), coded.errors.round().tolist()
    ([[95, -127], [0, 0], [0, 127]], [1575.0, 0.0, 0.0])
    """
    room = RowCodes(np.empty(rows.shape, np.int8), *_make_measures(len(rows)))
    room.write(rows)
    return room


INSTALL = "pip install 'weighbeam[corpus]'"


class CodeMultiplier:
    """Products of the codes of many rows with those of some queries; what it returns is overwritten by the next call.

    A single query is fastest row by row; several are a matrix product of packed codes.
    """

    def __init__(self, queries: NDArray[np.int8], max_rows: int) -> None:
        import numkong

        self._kernels: Any = numkong
        self._queries, self._max_rows = queries, max_rows
        self._alone = len(queries) == 1
        if self._alone:
            self._room: Any = np.empty((1, max_rows), np.float32)
        else:
            self._packed = numkong.dots_pack(queries, dtype="int8")
            self._room = numkong.zeros((max_rows, len(queries)), dtype="int32")

    def multiply(self, rows: NDArray[np.int8]) -> NDArray[Any]:
        """Products (rows, queries), as float32 or int32."""
        if self._alone:
            room: NDArray[np.float32] = self._room[:, : len(rows)]
            self._kernels.cdist(self._queries, rows, "dot", out=room)
            return room.T
        room_given = {"out": self._room} if len(rows) == self._max_rows else {}
        return np.asarray(self._kernels.dots_packed(rows, self._packed, **room_given))


def check_kernels(dimensions: int) -> None:
    """Try the kernels at extremes: the processor decides which of them run, and a wrong one would hide neighbours."""
    installed = find_spec("numkong") is not None
    require(installed, "kernel_fault", "8-bit products need numkong", f"{INSTALL}, or use the scan `flat`")
    extremes = [np.full(dimensions, 127), np.full(dimensions, -127), np.arange(-127, 128)]
    rows = np.resize(np.concatenate(extremes), (67, dimensions)).astype(np.int8)
    wanted = rows.astype(np.float64) @ rows.astype(np.float64).T
    for queries in (1, 3, 64):
        given = CodeMultiplier(rows[:queries], len(rows)).multiply(rows)
        sound = bool(np.allclose(given, wanted[:, :queries], rtol=2.0**-24, atol=0))
        require(sound, "kernel_fault", "8-bit products are wrong on this processor", "use the scan `flat`")
