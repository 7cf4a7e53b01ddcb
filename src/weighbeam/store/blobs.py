"""Content-addressed, compressed bytes: equal content is stored once and checked whenever it is read."""

import hashlib
from collections.abc import Collection, Iterable

from sqlalchemy import Connection, bindparam, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.zstd import NotZstd, compress_each, decompress
from weighbeam.store.tables import blobs

LEVEL = 3
MAX_BYTES = 1 << 30
QUERY_DIGESTS = 500
FIND = select(blobs.c.data).where(blobs.c.digest == bindparam("digest"))
"""Written once: a page reads many."""


def digest_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def insert_blobs(connection: Connection, contents: Iterable[bytes]) -> list[str]:
    """Store what is not there yet; gives the digests in order."""
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


def select_blob(connection: Connection, digest: str) -> bytes:
    """The content, or `blob_missing`, or `blob_damaged`."""
    return _open(digest, connection.scalar(FIND, {"digest": digest}))


def select_blobs(connection: Connection, digests: Collection[str]) -> dict[str, bytes]:
    """Several at once, by digest; refused as one is if any of them is."""
    wanted, found = sorted(set(digests)), dict[str, bytes]()
    for i in range(0, len(wanted), QUERY_DIGESTS):
        query = select(blobs.c.digest, blobs.c.data).where(blobs.c.digest.in_(wanted[i : i + QUERY_DIGESTS]))
        found.update((digest, data) for digest, data in connection.execute(query))
    return {digest: _open(digest, found.get(digest)) for digest in wanted}


def _open(digest: str, data: bytes | None) -> bytes:
    if data is None:
        raise WeighbeamError(
            "blob_missing", f"content {digest[:16]}… is not kept", "it was removed by retention or lost"
        )
    try:
        content = decompress(data, MAX_BYTES)
    except NotZstd:
        content = b""
    if digest_bytes(content) != digest:
        raise WeighbeamError("blob_damaged", f"content {digest[:16]}… is not what was stored", "restore a backup")
    return content
