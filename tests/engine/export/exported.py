"""An export as its readers see it, and the journal as its own views show it."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow.parquet
from sqlalchemy import select

from weighbeam.engine.export.schema import TABLES
from weighbeam.engine.journal.fold import RecordedEntry
from weighbeam.engine.journal.recall import load_round, select_outcome
from weighbeam.engine.views.rounds import list_rounds
from weighbeam.engine.views.weights import list_submissions
from weighbeam.store import tables
from weighbeam.store.database import Store

Rows = list[dict[str, Any]]
ORDER = {name: ("id",) if name == "submissions" else ("entry", "position") for name in TABLES}


def name_files(folder: Path, name: str) -> str:
    return f"{folder}/parts/*/{name}.parquet"


def read_duckdb(folder: Path, name: str) -> Rows:
    return read_all(folder, [name])[name]


def read_polars(folder: Path, name: str) -> Rows:
    return sort(name, polars.scan_parquet(name_files(folder, name)).collect().to_dicts())


def sort(name: str, rows: Rows) -> Rows:
    return sorted(rows, key=lambda row: tuple(row.get(key, 0) for key in ORDER[name]))


def read_all(folder: Path, names: Iterable[str] = TABLES) -> dict[str, Rows]:
    """By DuckDB."""
    with duckdb.connect(config={"threads": 1}) as connection:
        return {name: sort(name, select_all(connection, name_files(folder, name))) for name in names}


def select_all(connection: duckdb.DuckDBPyConnection, files: str) -> Rows:
    found = connection.execute("SELECT * FROM read_parquet(?)", [files])
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def read_quickly(folder: Path) -> dict[str, list[Any]]:
    """By the library that wrote it."""
    read = pyarrow.parquet.read_table
    found = {name: [read(path) for path in sorted(folder.glob(f"parts/*/{name}.parquet"))] for name in TABLES}
    return {name: [row for table in parts for row in table.to_pylist()] for name, parts in found.items()}


def pick(rows: Rows, *names: str) -> list[tuple[Any, ...]]:
    """Some columns; one that holds JSON is parsed, and -0.0 is not 0.0."""
    kinds = {column.name: column.kind for table in TABLES.values() for column in table}
    return [tuple(show(json.loads(row[n]) if kinds[n] == "json" and row[n] else row[n]) for n in names) for row in rows]


def show(value: Any) -> Any:
    return repr(value) if isinstance(value, float) else value


def view_rounds(store: Store) -> list[tuple[Any, ...]]:
    lines = [line for line in list_rounds(store, limit=10_000).items if line.state == "scored"]
    return sorted(
        (line.id, line.mechanism, show(line.at), line.block, line.answers, line.valid, line.void) for line in lines
    )


def view_answers(store: Store, find: Any) -> list[tuple[Any, ...]]:
    return [
        (round_id, at, a.hotkey, a.uid, a.status, show(a.seconds), a.reason, a.payload, a.proof)
        for round_id, mechanism in list_scored(store)
        for at, a in enumerate(load(store, round_id, mechanism, find).answers)
    ]


def view_scores(store: Store, find: Any) -> list[tuple[Any, ...]]:
    """Scored again by the mechanism itself, with what the tables say of pay."""
    found = []
    with store.read() as connection:
        paid = {(row.round, row.hotkey): row.emission for row in connection.execute(select(tables.evaluations))}
    for round_id, mechanism in list_scored(store):
        for at, one in enumerate(load(store, round_id, mechanism, find).scored.scores):
            pay = paid.get((round_id, one.hotkey))
            parts = None if one.parts is None else json.loads(json.dumps(one.parts))
            found.append((round_id, at, one.hotkey, one.status, show(one.value), list(one.reasons), show(pay), parts))
    return found


def view_standings(store: Store) -> list[tuple[Any, ...]]:
    return [
        (round_id, at, hotkey, show(value))
        for round_id, _ in list_scored(store)
        for at, (hotkey, value) in enumerate(select_outcome(store, round_id).standings.items())
    ]


def view_present_standings(store: Store) -> list[tuple[Any, ...]]:
    columns = tables.standings.c
    with store.read() as connection:
        rows = connection.execute(select(tables.standings).order_by(columns.mechanism, columns.place)).all()
    return [(row.mechanism, row.place, row.hotkey, show(row.value), row.detail) for row in rows]


def view_weights(store: Store) -> list[tuple[Any, ...]]:
    found = []
    with store.read() as connection:
        query = select(tables.entries).where(tables.entries.c.kind == "weigh_in").order_by(tables.entries.c.sequence)
        for row in connection.execute(query).all():
            entry = RecordedEntry(connection, row)
            decision = entry.weighing.decide()
            sent = dict(zip(decision.uids, decision.values, strict=True))
            for at, one in enumerate(entry.weighing.payees):
                share, last = decision.weights.get(one.hotkey), one.last_success_at
                found.append(
                    (row.ref, at, one.hotkey, one.uid, show(one.raw), show(last), show(share), sent.get(one.uid))
                )
    return found


def view_submissions(store: Store) -> list[tuple[Any, ...]]:
    lines = [one for one in list_submissions(store, limit=10_000).items if one.state in ("confirmed", "failed")]
    return sorted(
        (
            one.id, one.mechanism, show(one.at), one.state, one.reason, one.message, one.sent_block, one.included_block,
            [uid for uid, _ in one.row], [value for _, value in one.row], dict(one.plan),
        )
        for one in lines
    )  # fmt: skip


def list_scored(store: Store) -> list[tuple[str, str]]:
    columns = tables.rounds.c
    query = select(columns.id, columns.mechanism).where(columns.state == "scored").order_by(columns.sequence)
    with store.read() as connection:
        return [(row.id, row.mechanism) for row in connection.execute(query)]


def load(store: Store, round_id: str, mechanism: str, find: Any) -> Any:
    with store.read() as connection:
        return load_round(connection, round_id, find(mechanism))


def assert_equal_to_the_journal(folder: Path, store: Store, find: Any) -> None:
    rows = read_all(folder)
    named = ("round", "mechanism", "unix_time", "block", "asked", "valid", "void")
    assert sorted(pick(rows["rounds"], *named)) == view_rounds(store)
    named = ("round", "position", "hotkey", "uid", "status", "seconds", "reason", "payload", "proof")
    assert pick(rows["answers"], *named) == view_answers(store, find)
    named = ("round", "position", "hotkey", "status", "value", "reasons", "emission", "parts")
    assert pick(rows["scores"], *named) == view_scores(store, find)
    assert pick(rows["standings"], "round", "position", "hotkey", "value") == view_standings(store)
    newest = {row["mechanism"]: row["entry"] for row in rows["rounds"]}
    present = [row for row in rows["standings"] if row["entry"] == newest[row["mechanism"]]]
    assert sorted(pick(present, "mechanism", "position", "hotkey", "value", "detail"), key=lambda r: r[:2]) == (
        view_present_standings(store)
    )
    named = ("weigh_in", "position", "hotkey", "uid", "raw", "last_success_at", "weight", "value")
    assert pick(rows["weights"], *named) == view_weights(store)
    named = ("id", "mechanism", "unix_time", "state", "reason", "message", "sent_block", "included_block")
    assert pick(rows["submissions"], *named, "uids", "weights", "plan") == view_submissions(store)
