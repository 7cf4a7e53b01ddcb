"""The bytes of an observation: canonical JSON facts, then raw little-endian arrays.

    b"WBO1"  u32 length of the header  header {"arrays": [[name, dtype, shape] …], "facts": …}  array bytes …

Any language reads it, equal observations have equal bytes, and arrays need no parsing. Arrays begin wherever the header
ends, so reading copies one that numpy could not use fast where it lies.
"""

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.canonical import Json, canonical_json
from weighbeam.core.errors import WeighbeamError

MAGIC = b"WBO1"
DTYPES = ("<i2", "<i4", "<i8", "<f8", "|u1")


def pack(facts: Json, arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Facts and arrays as one deterministic byte string.

    >>> facts, arrays = unpack(pack({"a": 1}, {"v": np.array([1, 2], dtype="<i4")}))
    >>> facts, arrays["v"].tolist()
    ({'a': 1}, [1, 2])
    """
    listing: list[Json] = []
    bodies: list[bytes] = []
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        if array.dtype.str not in DTYPES:
            raise WeighbeamError("bad_array", f"array {name!r} has type {array.dtype.str}", f"use one of {DTYPES}")
        listing.append([name, array.dtype.str, list(array.shape)])
        bodies.append(array.tobytes())
    header = canonical_json({"arrays": listing, "facts": facts})
    return b"".join([MAGIC, len(header).to_bytes(4, "little"), header, *bodies])


def unpack(data: bytes) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return the arrays and header that `pack` wrote; malformed bytes raise `bad_pack`."""
    try:
        header, start = _parse_header(data)
        arrays: dict[str, NDArray[Any]] = {}
        for name, dtype, shape in header["arrays"]:
            if dtype not in DTYPES or any(side < 0 for side in shape):
                raise ValueError(f"array {name!r} has type {dtype!r} and shape {shape!r}")
            count = math.prod(shape)
            stop = start + count * np.dtype(dtype).itemsize
            if stop > len(data):
                raise ValueError(f"array {name!r} is cut short")
            array = np.frombuffer(data, dtype=dtype, count=count, offset=start)
            arrays[name] = np.require(array, requirements="A").reshape(shape)
            start = stop
        if start != len(data):
            raise ValueError("bytes after the last array")
        return header["facts"], arrays
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise WeighbeamError(
            "bad_pack", f"not a packed observation: {fault}", "restore the file from a backup"
        ) from fault


def _parse_header(data: bytes) -> tuple[dict[str, Any], int]:
    if data[:4] != MAGIC or len(data) < 8:
        raise ValueError("the first bytes are wrong")
    stop = 8 + int.from_bytes(data[4:8], "little")
    if stop > len(data):
        raise ValueError("the header is cut short")
    header = json.loads(data[8:stop], parse_constant=_refuse_constant)
    if not isinstance(header, dict):
        raise ValueError("the header is not an object")
    return header, stop


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")
