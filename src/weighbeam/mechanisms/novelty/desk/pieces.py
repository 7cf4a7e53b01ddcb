"""The log of pieces in a store: append-only, each with its checksum. Whatever searches it only follows it."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, func, insert, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.tables import pieces

FETCHED_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Pieces:
    """Some of them, with their vectors (n, d) in the same order."""

    ids: list[int]
    owners: list[int]
    vectors: NDArray[np.int32]


def insert_pieces(connection: Connection, contribution: int, vectors: NDArray[np.int32]) -> None:
    """Their numbers grow in the order of commits: they are given under the lock of the store."""
    rows = [encode_vector(vector) for vector in vectors]
    connection.execute(
        insert(pieces), [{"contribution": contribution, "vector": row, "crc": zlib.crc32(row)} for row in rows]
    )


def count_pieces(connection: Connection, after: int = 0) -> int:
    return int(connection.scalar(select(func.count()).select_from(pieces).where(pieces.c.id > after)) or 0)


def select_last_piece(connection: Connection) -> int:
    return int(connection.scalar(select(func.max(pieces.c.id))) or 0)


def select_since(connection: Connection, piece: int) -> list[tuple[int, int]]:
    query = select(pieces.c.id, pieces.c.contribution).where(pieces.c.id > piece).order_by(pieces.c.id)
    return [(row.id, row.contribution) for row in connection.execute(query)]


def select_after(connection: Connection, last: int, dimensions: int, limit: int) -> Pieces:
    """The next ones, in order."""
    return _select_pieces(connection, pieces.c.id > last, dimensions, limit)


def stream_after(connection: Connection, last: int, dimensions: int, at_once: int) -> Iterator[Pieces]:
    """All that follow, in blocks."""
    while True:
        found = select_after(connection, last, dimensions, at_once)
        if found.ids:
            yield found
            last = found.ids[-1]
        if len(found.ids) < at_once:
            return


def select_pieces(connection: Connection, wanted: Sequence[int], dimensions: int) -> Pieces:
    """Those of ascending numbers; one that is not there was lost."""
    parts = [wanted[start : start + FETCHED_AT_ONCE] for start in range(0, len(wanted), FETCHED_AT_ONCE)]
    found = [_select_pieces(connection, pieces.c.id.in_(part), dimensions, len(part)) for part in parts]
    ids = [id for each in found for id in each.ids]
    missing = sorted(set(wanted).difference(ids))
    if missing:
        raise WeighbeamError("corrupt_corpus", f"piece {missing[0]} of the corpus is missing", "restore a backup")
    empty = np.empty((0, dimensions), np.int32)
    owners = [owner for each in found for owner in each.owners]
    return Pieces(ids, owners, np.concatenate([empty, *(each.vectors for each in found)]))


def select_pieces_of(connection: Connection, contributions: Sequence[int], dimensions: int) -> Pieces:
    """Every piece of these contributions."""
    chosen = pieces.c.contribution.in_(contributions)
    columns = (pieces.c.id, pieces.c.contribution, pieces.c.vector, pieces.c.crc)
    rows = connection.execute(select(*columns).where(chosen).order_by(pieces.c.id)).all()
    vectors = parse_vectors([(row.id, row.vector, row.crc) for row in rows], dimensions)
    return Pieces([row.id for row in rows], [row.contribution for row in rows], vectors)


def select_owners(connection: Connection, wanted: Sequence[int]) -> dict[int, int]:
    """Owners of these pieces."""
    found: dict[int, int] = {}
    for start in range(0, len(wanted), FETCHED_AT_ONCE):
        chosen = pieces.c.id.in_(wanted[start : start + FETCHED_AT_ONCE])
        rows = connection.execute(select(pieces.c.id, pieces.c.contribution).where(chosen))
        found |= {row.id: row.contribution for row in rows}
    return found


def parse_vectors(rows: Sequence[tuple[int, bytes, int]], dimensions: int) -> NDArray[np.int32]:
    """Vectors of (piece, bytes, checksum); a damaged one stops any payment that uses it."""
    for id, vector, crc in rows:
        if len(vector) != 4 * dimensions or zlib.crc32(vector) != crc:
            raise WeighbeamError("corrupt_corpus", f"piece {id} of the corpus is damaged", "restore a backup")
    joined = np.frombuffer(b"".join(vector for _, vector, _ in rows), dtype="<i4")
    return joined.reshape(len(rows), dimensions).astype(np.int32, copy=False)


def encode_vector(vector: NDArray[np.int32]) -> bytes:
    return vector.astype("<i4", copy=False).tobytes()


def _select_pieces(connection: Connection, chosen: ColumnElement[bool], dimensions: int, limit: int) -> Pieces:
    columns = (pieces.c.id, pieces.c.contribution, pieces.c.vector, pieces.c.crc)
    rows = connection.execute(select(*columns).where(chosen).order_by(pieces.c.id).limit(limit)).all()
    vectors = parse_vectors([(row.id, row.vector, row.crc) for row in rows], dimensions)
    return Pieces([row.id for row in rows], [row.contribution for row in rows], vectors)
