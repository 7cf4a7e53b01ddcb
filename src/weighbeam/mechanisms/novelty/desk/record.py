"""A desk's records as plain rows, which an audit reads and an export writes.

Values with invalid JSON become None: the reader of a record reports what is missing.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Column, Connection, Table, Text, cast, select

from weighbeam.mechanisms.novelty.desk.desk import EMBEDDER, PARAMS
from weighbeam.mechanisms.novelty.tables import (
    accounts,
    contribution_facts,
    contributions,
    forms,
    novelty_ledger,
    pieces,
    settlements,
)
from weighbeam.store.tables import memory

Line = dict[str, Any]
AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class DeskRecord:
    """`pieces`, then `contributions` come one at a time, each once; a piece's `vector` is None if it was left out."""

    embedder: Line | None
    params: dict[str, Line]
    accounts: dict[str, int]
    entries: list[Line]
    settlements: list[Line]
    forms: list[Line]
    pieces: Iterator[Line]
    contributions: Iterator[Line]
    facts: dict[int, Line] = field(default_factory=dict)


def select_record(connection: Connection) -> DeskRecord:
    """The whole store as this transaction sees it."""
    kept = {row.key: parse_loosely(row.value) for row in connection.execute(select(memory.c.key, _raw(memory.c.value)))}
    return DeskRecord(
        embedder=kept.get(EMBEDDER),
        params={key.removeprefix(PARAMS): value for key, value in kept.items() if key.startswith(PARAMS) and value},
        accounts={row["name"]: row["units"] for row in _stream(connection, accounts, accounts.c.name)},
        entries=list(_stream(connection, novelty_ledger, novelty_ledger.c.sequence)),
        settlements=list(_stream(connection, settlements, settlements.c.contribution, "receipt")),
        forms=list(_stream(connection, forms, forms.c.contribution)),
        pieces=_stream(connection, pieces, pieces.c.id),
        contributions=_stream(connection, contributions, contributions.c.id, "look", "receipt"),
        facts={
            row["contribution"]: row
            for row in _stream(connection, contribution_facts, contribution_facts.c.contribution, "facts")
        },
    )


def parse_loosely(text: str | None) -> Any:
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return None


def _stream(connection: Connection, table: Table, order: Column[Any], *json_columns: str) -> Iterator[Line]:
    """Rows in order, in blocks, so that a large table is never in memory as a whole."""
    columns = [_raw(column) if column.name in json_columns else column for column in table.c]
    rows = connection.execution_options(yield_per=AT_ONCE).execute(select(*columns).order_by(order))
    for row in rows:
        line = dict(row._mapping)
        yield line | {name: parse_loosely(line[name]) for name in json_columns}


def _raw(column: Column[Any]) -> Any:
    return cast(column, Text).label(column.name)
