"""Content-addressed, compressed bytes: equal content is stored once and checked whenever it is read.

A digest is that of the content, in whichever of three forms the content is kept: as zstd frames, as zstd of integers in
planes of bytes, or as a frame that refers to another content, its base (docs/spec/journal.md § 8).
"""

import hashlib
import struct
from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import Connection, bindparam, select, update

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.planes import Run, join_planes, split_planes
from weighbeam.core.zstd import NotZstd, compress_beside, compress_each, decompress, decompress_beside
from weighbeam.store.tables import blobs

LEVEL = 3
MAX_BYTES = 1 << 30
MAX_PLANES = 1 << 28
"""Joining planes takes several times their size in memory."""
MAX_BASE = 1 << 26
"""A base is read again with each content that refers to it; a window of 128 MiB holds it."""
LEAST_REFERRING = 1 << 10
"""Shorter contents refer to nothing: that would take as much as it saves."""
PLANES, BESIDE = b"WBP1", b"WBR1"
RUN = struct.Struct("<BQQ")
QUERY_DIGESTS = 500
FIND = select(blobs.c.data).where(blobs.c.digest == bindparam("digest"))
"""Written once: a page reads many."""


def digest_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def insert_blobs(connection: Connection, contents: Iterable[bytes]) -> list[str]:
    """Store missing contents; return the digests in order."""
    named = [(digest_bytes(data), data) for data in contents]
    wanted = sorted({digest for digest, _ in named})
    known: set[str] = set()
    for i in range(0, len(wanted), QUERY_DIGESTS):
        part = wanted[i : i + QUERY_DIGESTS]
        known.update(connection.scalars(select(blobs.c.digest).where(blobs.c.digest.in_(part))))
    new = {digest: data for digest, data in named if digest not in known}
    if new:
        pressed = zip(new, compress_each(new.values(), LEVEL), strict=True)
        connection.execute(blobs.insert(), [{"digest": digest, "data": data} for digest, data in pressed])
    return [digest for digest, _ in named]


def insert_planes(connection: Connection, content: bytes, runs: Sequence[Run]) -> str:
    """Store a content that holds integers; gives its digest."""
    if not runs or len(runs) > 255 or len(content) > MAX_PLANES:
        return insert_blobs(connection, [content])[0]
    digest = digest_bytes(content)
    if connection.scalar(FIND, {"digest": digest}) is None:
        listing = b"".join(RUN.pack(run.width, run.offset, run.count) for run in runs)
        pressed = next(compress_each([split_planes(content, runs)], LEVEL))
        data = PLANES + bytes([len(runs)]) + listing + pressed
        connection.execute(blobs.insert().values(digest=digest, data=data))
    return digest


def insert_beside(connection: Connection, content: bytes, base: bytes) -> str:
    """Store a content that shares much with `base`, which is stored as frames and kept as long; gives its digest.

    One that refers to another base already is written whole: the two bases need not be kept equally long.
    """
    if len(content) < LEAST_REFERRING or len(base) > MAX_BASE:
        return insert_blobs(connection, [content])[0]
    digest, named = digest_bytes(content), bytes.fromhex(digest_bytes(base))
    found = connection.scalar(FIND, {"digest": digest})
    if found is None:
        data = BESIDE + named + compress_beside(content, base, LEVEL)
        connection.execute(blobs.insert().values(digest=digest, data=data))
    elif _find_base(found) not in (None, named):
        whole = next(compress_each([content], LEVEL))
        connection.execute(update(blobs).where(blobs.c.digest == digest).values(data=whole))
    return digest


def select_blob(connection: Connection, digest: str, limit: int = MAX_BYTES) -> bytes:
    """The content, or `blob_missing`, or `blob_damaged`."""
    return _open(connection, digest, connection.scalar(FIND, {"digest": digest}), limit)


def select_blobs(connection: Connection, digests: Collection[str]) -> dict[str, bytes]:
    """Several at once, by digest; refused as one is if any of them is."""
    wanted, found = sorted(set(digests)), dict[str, bytes]()
    for i in range(0, len(wanted), QUERY_DIGESTS):
        query = select(blobs.c.digest, blobs.c.data).where(blobs.c.digest.in_(wanted[i : i + QUERY_DIGESTS]))
        found.update((digest, data) for digest, data in connection.execute(query))
    return {digest: _open(connection, digest, found.get(digest), MAX_BYTES) for digest in wanted}


def has_blob(connection: Connection, digest: str) -> bool:
    return connection.scalar(select(blobs.c.digest).where(blobs.c.digest == digest)) is not None


def _open(connection: Connection, digest: str, data: bytes | None, limit: int) -> bytes:
    if data is None:
        raise WeighbeamError(
            "blob_missing", f"content {digest[:16]}… is missing", "retention removed it, or it was lost"
        )
    try:
        if (named := _find_base(data)) is not None:
            content = decompress_beside(data[36:], _select_base(connection, named), limit)
        elif data[:4] == PLANES:
            content = _open_planes(data, min(limit, MAX_PLANES))
        else:
            content = decompress(data, limit)
    except (NotZstd, ValueError, struct.error):
        content = b""
    if digest_bytes(content) != digest:
        raise WeighbeamError("blob_damaged", f"content {digest[:16]}… is not what was stored", "restore a backup")
    return content


def _find_base(data: bytes) -> bytes | None:
    """The digest of what a content refers to; None if it stands alone."""
    return data[4:36] if data[:4] == BESIDE else None


def _select_base(connection: Connection, named: bytes) -> bytes:
    """A base stands alone and is small, so that no content leads to more than one other."""
    digest = named.hex()
    data = connection.scalar(FIND, {"digest": digest})
    if data is not None and data[:4] in (PLANES, BESIDE):
        raise NotZstd("its base refers to another")
    return _open(connection, digest, data, MAX_BASE)


def _open_planes(data: bytes, limit: int) -> bytes:
    count = data[4] if len(data) > 4 else 0
    start = 5 + count * RUN.size
    runs = []
    for width, offset, length in RUN.iter_unpack(data[5:start]):
        runs.append(Run(offset, width, length))
    content = decompress(data[start:], limit)
    if len(content) > limit:
        raise NotZstd("it is too long")
    return join_planes(content, runs)
