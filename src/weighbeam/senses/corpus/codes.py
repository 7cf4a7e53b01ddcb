"""Rows in 8 bits: integer codes, one scale, and how long the rounding error is."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.senses.corpus.blocks import make_block

CODE = 127
PART = 512


@dataclass(frozen=True, slots=True)
class Codes:
    """Row i is `scales[i]` · `codes[i]`, off by a vector that is no longer than `errors[i]`, all in millionths."""

    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    errors: NDArray[np.float32]

    @classmethod
    def make_room(cls, rows: int, dimensions: int) -> "Codes":
        return cls(make_block(rows, dimensions, np.int8), np.empty(rows, np.float32), np.empty(rows, np.float32))

    def cut(self, part: slice) -> "Codes":
        """A view: writing to it writes here."""
        return Codes(self.codes[part], self.scales[part], self.errors[part])

    def write(self, rows: NDArray[np.int32]) -> None:
        """Fill this room with `rows`, a part at a time.

        The scale is rounded to float32 first, so that the error measured is that of what is stored. Its components are
        exact in float64 and its length off by 1e-12 of itself at most; the step up to the next float32 covers that and
        the rounding to float32.
        """
        for first in range(0, len(rows), PART):
            exact = rows[first : first + PART].astype(np.float64)
            scales = (np.abs(exact).max(axis=1) / CODE).astype(np.float32)
            steps = np.where(scales == 0, 1.0, scales.astype(np.float64))[:, None]
            codes = np.rint(exact / steps)
            exact -= codes * steps
            errors = np.sqrt(np.vecdot(exact, exact)).astype(np.float32)
            last = first + len(exact)
            self.codes[first:last], self.scales[first:last] = codes, scales
            self.errors[first:last] = np.where(errors > 0, np.nextafter(errors, np.float32(np.inf)), errors)


def encode(rows: NDArray[np.int32]) -> Codes:
    """
    >>> coded = encode(np.array([[600000, -800000], [0, 0], [0, 1000000]], np.int32))
    >>> coded.codes.tolist(), coded.errors.round().tolist()
    ([[95, -127], [0, 0], [0, 127]], [1575.0, 0.0, 0.0])
    """
    room = Codes(np.empty(rows.shape, np.int8), np.empty(len(rows), np.float32), np.empty(len(rows), np.float32))
    room.write(rows)
    return room
