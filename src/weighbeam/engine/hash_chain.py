"""The chain of a journal's entries: each names the hash of the one before."""

from sqlalchemy import Connection, insert, select

from weighbeam.core.canonical import digest_json
from weighbeam.store import tables

GENESIS = "0" * 64


def append_entry(connection: Connection, kind: str, ref: str, body: str) -> tuple[int, str]:
    """The next link of the chain."""
    sequence, previous = _find_last(connection)
    digest = hash_entry(previous, kind, ref, body)
    connection.execute(
        insert(tables.entries).values(
            sequence=sequence + 1, kind=kind, ref=ref, body=body, previous=previous, hash=digest
        )
    )
    return sequence + 1, digest


def _find_last(connection: Connection) -> tuple[int, str]:
    """The end of the chain: its last entry, or the checkpoint that stands for all of them."""
    for table in (tables.entries, tables.checkpoints):
        query = select(table.c.sequence, table.c.hash).order_by(table.c.sequence.desc()).limit(1)
        found = connection.execute(query).one_or_none()
        if found is not None:
            return int(found.sequence), str(found.hash)
    return 0, GENESIS


def hash_entry(previous: str, kind: str, ref: str, body: str) -> str:
    return digest_json([previous, kind, ref, body])
