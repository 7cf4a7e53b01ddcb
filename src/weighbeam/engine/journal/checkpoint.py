"""Signed checkpoints: the state that the removed part of a journal led to, so that the rest can still be verified."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from weighbeam.core.canonical import Json, canonical_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.zstd import NotZstd, compress_each, decompress
from weighbeam.engine.journal.state import ReplayState
from weighbeam.network.keys import is_signed
from weighbeam.store import tables
from weighbeam.store.blobs import MAX_BYTES

Sign = Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The last removed entry, and the state of each mechanism after it."""

    sequence: int
    hash: str
    at: float
    hotkey: str
    reached: Mapping[str, ReplayState]

    def signed_bytes(self) -> bytes:
        body: Json = {
            "weighbeam": "checkpoint/1",
            "sequence": self.sequence,
            "hash": self.hash,
            "at": self.at,
            "hotkey": self.hotkey,
            "reached": {name: state.as_json() for name, state in sorted(self.reached.items())},
        }
        return canonical_json(body)


def insert_checkpoint(connection: Connection, checkpoint: Checkpoint, sign: Sign) -> None:
    """Sign it and store it; older ones stay as proof of what they signed."""
    content = checkpoint.signed_bytes()
    connection.execute(
        insert(tables.checkpoints).values(
            sequence=checkpoint.sequence,
            hash=checkpoint.hash,
            at=checkpoint.at,
            body=next(compress_each([content], 9)),
            hotkey=checkpoint.hotkey,
            signature=sign(content).hex(),
        )
    )


def select_checkpoint(connection: Connection) -> Checkpoint | None:
    """The newest checkpoint, its signature checked; `bad_checkpoint` if it does not hold."""
    query = select(tables.checkpoints).order_by(tables.checkpoints.c.sequence.desc()).limit(1)
    row = connection.execute(query).one_or_none()
    return None if row is None else _parse_checkpoint(row)


def find_checkpoint_faults(connection: Connection) -> Iterator[str]:
    """Older checkpoints prove what they signed: each must still hold."""
    for row in connection.execute(select(tables.checkpoints).order_by(tables.checkpoints.c.sequence)):
        try:
            _parse_checkpoint(row)
        except WeighbeamError as fault:
            yield f"checkpoint {row.sequence}: {fault.message}"


def _parse_checkpoint(row: Row[Any]) -> Checkpoint:
    try:
        content = decompress(row.body, MAX_BYTES)
        signature = bytes.fromhex(row.signature)
        given = json.loads(content)
        told = (given["sequence"], given["hash"], given["at"], given["hotkey"])
        reached = {name: ReplayState.from_json(state) for name, state in given["reached"].items()}
    except (NotZstd, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _bad("cannot be read") from None
    if told != (row.sequence, row.hash, row.at, row.hotkey):
        raise _bad("differs from its row")
    if not any(is_signed(content, signature, row.hotkey, scheme) for scheme in ("sr25519", "ed25519")):
        raise _bad("is not signed by its hotkey")
    return Checkpoint(row.sequence, row.hash, row.at, row.hotkey, reached)


def list_signers(connection: Connection) -> list[str]:
    """Signers of the checkpoints, oldest first."""
    query = select(tables.checkpoints.c.hotkey).order_by(tables.checkpoints.c.sequence)
    return list(connection.scalars(query))


def _bad(what: str) -> WeighbeamError:
    return WeighbeamError("bad_checkpoint", f"the journal's checkpoint {what}", "restore a backup of the journal")
