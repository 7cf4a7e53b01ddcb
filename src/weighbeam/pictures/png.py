"""The same pixels in about a quarter of the bytes: what draws a PNG compresses for speed and keeps transparency."""

import struct
import zlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
RGBA_8_BIT = (8, 6, 0, 0, 0)
RGB_8_BIT = (8, 2, 0, 0, 0)
PLAIN, FROM_LEFT, FROM_ABOVE = 0, 1, 2


def squeeze_png(png: bytes) -> bytes:
    """The picture without its transparency, if every pixel is opaque; as it was if it is of another make."""
    pixels = _read_pixels(png)
    if pixels is None or (pixels[:, :, 3] != 255).any():
        return png
    height, width = pixels.shape[:2]
    rows = pixels[:, :, :3].reshape(height, -1)
    above = np.diff(rows, axis=0, prepend=np.zeros((1, rows.shape[1]), np.uint8))
    body = min((_deflate(PLAIN, rows), _deflate(FROM_ABOVE, above)), key=len)
    header = struct.pack(">II5B", width, height, *RGB_8_BIT)
    chunks = [(b"IHDR", header), (b"IDAT", body), (b"IEND", b"")]
    return SIGNATURE + b"".join(_write_chunk(kind, data) for kind, data in chunks)


def _read_pixels(png: bytes) -> NDArray[np.uint8] | None:
    """Height, width and red, green, blue, alpha; nothing unless each row is plain or as differences from the left."""
    chunks = list(_read_chunks(png))
    width, height, *make = struct.unpack(">II5B", chunks[0][1])
    if tuple(make) != RGBA_8_BIT:
        return None
    packed = zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT"))
    rows = np.frombuffer(packed, np.uint8).reshape(height, 1 + 4 * width)
    ways, pixels = rows[:, 0], rows[:, 1:].reshape(height, width, 4)
    if not np.isin(ways, (PLAIN, FROM_LEFT)).all():
        return None
    summed: NDArray[np.uint8] = np.cumsum(pixels, axis=1, dtype=np.uint8)
    return np.where((ways == FROM_LEFT)[:, None, None], summed, pixels)


def _read_chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(SIGNATURE)
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        yield kind, png[at + 8 : at + 8 + length]
        at += 12 + length


def _write_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _deflate(way: int, rows: NDArray[np.uint8]) -> bytes:
    marked = np.pad(rows, ((0, 0), (1, 0)), constant_values=way)
    return zlib.compress(marked.tobytes(), 9)
