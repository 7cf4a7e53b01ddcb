"""The chain of a journal's entries: each names the hash of the one before."""

from typing import Any

from sqlalchemy import Connection, Row, insert, select

from weighbeam.core.canonical import digest_json
from weighbeam.store import tables
from weighbeam.store.seals import continue_chain, touch

GENESIS = "0" * 64


def append_entry(connection: Connection, kind: str, ref: str, body: str) -> tuple[int, str]:
    """The next link of the chain."""
    sequence, previous = select_end(connection)
    digest = hash_entry(previous, kind, ref, body)
    connection.execute(
        insert(tables.entries).values(
            sequence=sequence + 1, kind=kind, ref=ref, body=body, previous=previous, hash=digest
        )
    )
    touch(connection, tables.entries.name)
    continue_chain(connection, tables.entries.name, (sequence, previous))
    return sequence + 1, digest


def select_end(connection: Connection) -> tuple[int, str]:
    """The end of the chain: its last entry, or the checkpoint that stands for all of them."""
    for table in (tables.entries, tables.checkpoints):
        query = select(table.c.sequence, table.c.hash).order_by(table.c.sequence.desc()).limit(1)
        found = connection.execute(query).one_or_none()
        if found is not None:
            return int(found.sequence), str(found.hash)
    return 0, GENESIS


def select_hash(connection: Connection, sequence: int) -> str | None:
    """The hash of an entry or of the checkpoint that ends with it; None if neither is there."""
    for table in (tables.entries, tables.checkpoints):
        found = connection.scalar(select(table.c.hash).where(table.c.sequence == sequence))
        if found is not None:
            return str(found)
    return None


def hash_entry(previous: str, kind: str, ref: str, body: str) -> str:
    return digest_json([previous, kind, ref, body])


def check_link(row: Row[Any], previous: str, expected: int) -> str | None:
    """Describe the fault in an entry's link to the chain, if any."""
    if row.sequence != expected:
        return f"entry {expected} is missing"
    if row.previous != previous:
        return "it does not follow the previous entry"
    texts = (row.previous, row.kind, row.ref, row.body)
    if not all(isinstance(one, str) for one in texts) or hash_entry(*texts) != row.hash:
        return "its hash does not match its content"
    return None
