"""Zstandard as Python 3.14 has it, and as its backport has it before."""

import sys
from collections.abc import Iterable, Iterator

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["NotZstd", "TooManyFrames", "compress_each", "decompress", "zstd"]
LARGEST_WINDOW_LOG = 27
MAX_FRAMES = 64
"""A frame may be eight bytes that hold nothing, and beginning one costs the same as for a large one."""


class NotZstd(Exception):
    """The input is not zstd, or is cut short."""


class TooManyFrames(NotZstd):
    """It is in more pieces than anybody has reason to cut it into."""


def compress_each(contents: Iterable[bytes], level: int) -> Iterator[bytes]:
    """A frame for each; many small ones share the work of beginning."""
    press = zstd.ZstdCompressor(level)
    for content in contents:
        yield press.compress(content, press.FLUSH_FRAME)


def compress_beside(content: bytes, base: bytes, level: int) -> bytes:
    """One frame that names what it shares with `base`, and whatever comes again far behind, instead of repeating it."""
    options: dict[int, int] = {
        zstd.CompressionParameter.compression_level: level,
        zstd.CompressionParameter.enable_long_distance_matching: 1,
    }
    press = zstd.ZstdCompressor(options=options, zstd_dict=_name_prefix(base))
    return press.compress(content, press.FLUSH_FRAME)


def decompress_beside(wire: bytes, base: bytes, limit: int) -> bytes:
    """Undo `compress_beside`; it stops one byte beyond `limit`.

    >>> decompress_beside(compress_beside(b"weighbeams", b"weighbeam", 3), b"weighbeam", 100)
    b'weighbeams'
    """
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: LARGEST_WINDOW_LOG}
    stream = zstd.ZstdDecompressor(zstd_dict=_name_prefix(base), options=options)
    try:
        content = stream.decompress(wire, limit + 1)
    except zstd.ZstdError as fault:
        raise NotZstd(str(fault)) from None
    if len(content) <= limit and not stream.eof:
        raise NotZstd("it ends too early")
    return content


def _name_prefix(base: bytes) -> tuple[zstd.ZstdDict, int] | None:
    """Anything shorter cannot be one."""
    return zstd.ZstdDict(base, is_raw=True).as_prefix if len(base) >= 8 else None


def decompress(wire: bytes, limit: int, window_log: int = LARGEST_WINDOW_LOG) -> bytes:
    """The content of all frames, at most 64; it stops one byte beyond `limit`.

    >>> decompress(b"".join(compress_each([b"be", b"am"], 3)), 100)
    b'beam'
    """
    parts: list[bytes] = []
    left = limit + 1
    while wire and left > 0:
        if len(parts) == MAX_FRAMES:
            raise TooManyFrames(f"it has more than {MAX_FRAMES} frames")
        stream = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: window_log})
        try:
            parts.append(stream.decompress(wire, left))
        except zstd.ZstdError as fault:
            raise NotZstd(str(fault)) from None
        left -= len(parts[-1])
        if left > 0 and not stream.eof:
            raise NotZstd("it ends too early")
        wire = stream.unused_data
    return b"".join(parts)
