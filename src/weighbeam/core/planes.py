"""Whole numbers as planes of bytes: all lowest bytes first, then all second bytes, and so on.

The numbers of a vector are small and of both signs. Zigzag makes the small ones small without a sign, so the upper
planes are nearly empty and compress to almost nothing. The result is as long as what it is made of.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTHS = (2, 4, 8)


@dataclass(frozen=True, slots=True)
class Run:
    """`count` little-endian integers of `width` bytes each, from `offset` on."""

    offset: int
    width: int
    count: int


def find_runs(arrays: Mapping[str, NDArray[Any]], size: int) -> tuple[Run, ...]:
    """Where the integers of a packed observation of `size` bytes lie: its arrays are the end of it, by name.

    >>> find_runs({"v": np.zeros((2, 3), "<i4"), "m": np.zeros(5, "u1")}, 100)
    (Run(offset=76, width=4, count=6),)
    """
    start, runs = size - sum(array.nbytes for array in arrays.values()), []
    for name in sorted(arrays):
        array = arrays[name]
        if array.dtype.kind == "i" and array.dtype.itemsize in WIDTHS and array.size:
            runs.append(Run(start, array.dtype.itemsize, array.size))
        start += array.nbytes
    return tuple(runs)


def split_planes(data: bytes, runs: Sequence[Run]) -> bytes:
    """`data` with the integers of each run as zigzag planes.

    >>> split_planes(np.array([1, -1, 2, -300], "<i2").tobytes(), [Run(0, 2, 4)]).hex()
    '0201045700000002'
    """
    parts = []
    for part, run in _cut(data, runs):
        if run is not None:
            values = np.frombuffer(part, f"<i{run.width}")
            sign = (values >> (8 * run.width - 1)).view(f"<u{run.width}")
            zigzag = (values.view(f"<u{run.width}") << 1) ^ sign
            part = np.ascontiguousarray(zigzag.view(np.uint8).reshape(run.count, run.width).T).tobytes()
        parts.append(part)
    return b"".join(parts)


def join_planes(data: bytes, runs: Sequence[Run]) -> bytes:
    """Undo `split_planes`; `ValueError` if the runs do not fit the data."""
    parts = []
    for part, run in _cut(data, runs):
        if run is not None:
            planes = np.frombuffer(part, np.uint8).reshape(run.width, run.count)
            zigzag = np.ascontiguousarray(planes.T).view(f"<u{run.width}")
            one = np.array(1, zigzag.dtype)
            part = ((zigzag >> one) ^ (~(zigzag & one) + one)).tobytes()
        parts.append(part)
    return b"".join(parts)


def _cut(data: bytes, runs: Sequence[Run]) -> Iterator[tuple[bytes, Run | None]]:
    """The runs and what lies between them, in order."""
    done = 0
    for run in runs:
        stop = run.offset + run.width * run.count
        if run.width not in WIDTHS or run.offset < done or stop > len(data):
            raise ValueError(f"{run} does not fit {len(data)} bytes")
        yield data[done : run.offset], None
        yield data[run.offset : stop], run
        done = stop
    yield data[done:], None
