"""A round as its blobs hold it: what was recorded before scoring, and what came of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.store import tables
from weighbeam.store.blobs import read_blob


@dataclass(frozen=True, slots=True)
class Entry:
    """A round's place in the chain of the journal."""

    sequence: int
    hash: str
    previous: str


@dataclass(frozen=True, slots=True)
class Record:
    """`scored` is None until the round is; `answers` are rows as `journal.write_answers` writes them."""

    row: Row[Any]
    body: Mapping[str, Any]
    task: Mapping[str, Any]
    answers: list[list[Any]]
    entry: Entry | None
    scored: Mapping[str, Any] | None

    @property
    def is_organic(self) -> bool:
        return bool(self.task["kind"] == "organic")


def read_record(connection: Connection, round_id: str) -> Record:
    """Everything of a round but its observation; `unknown_round` if it is not here, or not any more."""
    row = connection.execute(select(tables.rounds).where(tables.rounds.c.id == round_id)).one_or_none()
    if row is None:
        raise _refuse(connection, round_id)
    body = json.loads(read_blob(connection, row.body))
    task, answers = (json.loads(read_blob(connection, body[name])) for name in ("task", "answers"))
    entry, scored = _read_outcome(connection, round_id)
    return Record(row, body, task, answers, entry, scored)


def _read_outcome(connection: Connection, round_id: str) -> tuple[Entry | None, Mapping[str, Any] | None]:
    columns = tables.entries.c
    query = select(tables.entries).where(columns.kind == "round", columns.ref == round_id)
    found = connection.execute(query).one_or_none()
    if found is None:
        return None, None
    outcome = json.loads(read_blob(connection, found.body))
    return Entry(found.sequence, found.hash, found.previous), outcome["scored"]


def _refuse(connection: Connection, round_id: str) -> WeighbeamError:
    oldest = connection.execute(select(tables.rounds.c.id).order_by(tables.rounds.c.at).limit(1)).scalar()
    cleaned = connection.execute(select(tables.checkpoints.c.sequence).limit(1)).first() is not None
    told = f"no round is called {round_id[:100]!r}"
    if cleaned:
        told += f"; it may have been removed: the oldest round kept is {oldest}"
    return WeighbeamError("unknown_round", told, "see weighbeam rounds or /v1/rounds")
