"""Undo one layer of content encoding, never making more than is allowed."""

import zlib
from collections.abc import Callable, Mapping

from weighbeam.core.zstd import NotZstd, TooManyFrames, decompress
from weighbeam.senses.adapters.pages.outcome import PageTooLarge, PageUnreadable

ACCEPTED = "gzip, deflate, zstd"
WINDOW_LOG = 23
GZIP, ZLIB, RAW = 31, 15, -15
MAX_MEMBERS = 64


def decode_body(wire: bytes, encoding: str, limit: int) -> bytes:
    """The content itself; `PageTooLarge` beyond `limit` bytes or a second layer, `PageUnreadable` otherwise.

    >>> decode_body(zlib.compress(b"page"), "deflate", 100)
    b'page'
    """
    layers = [name for part in encoding.split(",") if (name := part.strip().lower()) not in ("", "identity")]
    if len(layers) > 1:
        raise PageTooLarge("layers")
    if not layers:
        body = wire
    elif layers[0] in DECODERS:
        body = DECODERS[layers[0]](wire, limit)
    else:
        raise PageUnreadable("encoding")
    if len(body) > limit:
        raise PageTooLarge("body")
    return body


def _inflate(wire: bytes, limit: int, form: int) -> bytes:
    """One deflate stream, or up to 64 gzip members in a row; it stops one byte beyond `limit`.

    A member may hold nothing, and beginning one costs the same as for a large one.
    """
    parts: list[bytes] = []
    left = limit + 1
    while wire and left > 0:
        if len(parts) == MAX_MEMBERS:
            raise PageTooLarge("members")
        stream = zlib.decompressobj(form)
        try:
            parts.append(stream.decompress(wire, left))
        except zlib.error:
            raise PageUnreadable("encoding") from None
        left -= len(parts[-1])
        if left > 0 and not stream.eof:
            raise PageUnreadable("encoding")
        wire = stream.unused_data if form == GZIP and stream.unused_data[:2] == b"\x1f\x8b" else b""
    return b"".join(parts)


def _undo_gzip(wire: bytes, limit: int) -> bytes:
    return _inflate(wire, limit, GZIP)


def _undo_deflate(wire: bytes, limit: int) -> bytes:
    """With or without the zlib wrapper: servers disagree about what deflate means."""
    try:
        return _inflate(wire, limit, ZLIB)
    except PageUnreadable:
        return _inflate(wire, limit, RAW)


def _undo_zstd(wire: bytes, limit: int) -> bytes:
    try:
        return decompress(wire, limit, WINDOW_LOG)
    except TooManyFrames:
        raise PageTooLarge("members") from None
    except NotZstd:
        raise PageUnreadable("encoding") from None


DECODERS: Mapping[str, Callable[[bytes, int], bytes]] = {
    "gzip": _undo_gzip,
    "x-gzip": _undo_gzip,
    "deflate": _undo_deflate,
    "zstd": _undo_zstd,
}
