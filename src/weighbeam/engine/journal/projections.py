"""Projections of the journal in tables for reading: scores, evaluations, standings, their history and last-seen times;
a replay checks that they match.

Mechanisms that are paid by averaged emissions have no history of standings: their course follows from `evaluations`.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, delete, insert, select

from weighbeam.core.errors import require
from weighbeam.core.numbers import is_number
from weighbeam.engine.rules.last_seen import LastSeen
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.records import Scored, Standing
from weighbeam.store import tables

MAX_NAMED = 500


def select_standings(connection: Connection, mechanism: str) -> tuple[Standing, ...]:
    query = select(tables.standings).where(tables.standings.c.mechanism == mechanism)
    rows = connection.execute(query.order_by(tables.standings.c.place))
    return tuple(Standing(row.hotkey, row.value, row.detail) for row in rows)


def update_standings(
    connection: Connection, mechanism: str, standings: Sequence[Standing], before: Sequence[Standing] = ()
) -> None:
    """Write the rows that differ from `before`, compared as encoded (-0.0 differs from 0.0)."""
    kept = {s.hotkey: (place, repr(s.value), repr(s.detail)) for place, s in enumerate(before)}
    rows = [
        {"mechanism": mechanism, "hotkey": s.hotkey, "place": place, "value": s.value, "detail": dict(s.detail)}
        for place, s in enumerate(standings)
        if kept.get(s.hotkey) != (place, repr(s.value), repr(s.detail))
    ]
    gone = kept.keys() - {standing.hotkey for standing in standings}
    _replace(connection, tables.standings, mechanism, rows, gone)


def _replace(
    connection: Connection, table: Table, mechanism: str, rows: Sequence[Mapping[str, Any]], gone: Collection[str]
) -> None:
    """Replace the rows of some miners, and delete those of miners who left."""
    hotkeys = sorted({*gone, *(row["hotkey"] for row in rows)})
    for start in range(0, len(hotkeys), MAX_NAMED):
        named = table.c.hotkey.in_(hotkeys[start : start + MAX_NAMED])
        connection.execute(delete(table).where(table.c.mechanism == mechanism, named))
    if rows:
        connection.execute(insert(table), list(rows))


def insert_scores(connection: Connection, round_id: str, scored: Scored) -> None:
    rows = [
        {"round": round_id, "hotkey": s.hotkey, "status": s.status, "value": s.value, "reasons": list(s.reasons)}
        for s in scored.scores
    ]
    if rows:
        connection.execute(insert(tables.scores), rows)


def list_evaluations(mechanism: Mechanism, round_id: str, at: float, scored: Scored) -> list[dict[str, Any]]:
    """One row per judged miner; unscored answers give no row, and a negative emission is an error."""
    emissions = scored.summary.get("emissions", {})
    sound = all(is_number(emission, 0) for emission in emissions.values())
    require(
        sound, "bad_emission", f"round {round_id} has a negative or non-numeric emission", "fix the mechanism's `score`"
    )
    return [
        {
            "mechanism": mechanism.name,
            "hotkey": score.hotkey,
            "round": round_id,
            "at": at,
            "emission": emissions.get(score.hotkey),
            "success": score.status == "valid",
        }
        for score in scored.scores
        if score.status != "unscored"
    ]


def insert_evaluations(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Evaluations, and away with every fold that one of them comes too late for."""
    if not rows:
        return
    connection.execute(insert(tables.evaluations), list(rows))
    folds = tables.folds.c
    connection.execute(
        delete(tables.folds)
        .where(folds.mechanism == rows[0]["mechanism"], folds.newest_at >= rows[0]["at"])
        .where(folds.hotkey.in_([row["hotkey"] for row in rows]))
    )


def select_last_seen(connection: Connection, mechanism: str) -> dict[str, LastSeen]:
    rows = connection.execute(select(tables.miners).where(tables.miners.c.mechanism == mechanism))
    return {row.hotkey: LastSeen(row.asked_at, row.success_at) for row in rows}


def update_last_seen(
    connection: Connection, mechanism: str, seen: Mapping[str, LastSeen], before: Mapping[str, LastSeen] | None = None
) -> None:
    """Write rows that differ from `before`, the stored state."""
    kept = before or {}
    rows = [
        {"mechanism": mechanism, "hotkey": hotkey, "asked_at": one.asked_at, "success_at": one.success_at}
        for hotkey, one in seen.items()
        if kept.get(hotkey) != one
    ]
    _replace(connection, tables.miners, mechanism, rows, kept.keys() - seen.keys())


HISTORY = tables.standing_history.c


def list_standing_history(
    mechanism: Mechanism,
    round_id: str,
    at: float,
    task: Mapping[str, Any],
    scored: Scored,
    standings: Sequence[Standing],
) -> list[dict[str, Any]]:
    """Standings of all miners that a ranked round judged, without those asked in addition to the group."""
    if mechanism.rule.standing == "emissions" or not task.get("ranked", True):
        return []
    values = {standing.hotkey: standing.value for standing in standings}
    extra = set(task.get("extra", ()))
    judged = [score.hotkey for score in scored.scores if score.status != "unscored" and score.hotkey not in extra]
    named = {"mechanism": mechanism.name, "round": round_id, "at": at}
    return [{**named, "hotkey": hotkey, "value": values[hotkey]} for hotkey in judged if hotkey in values]


def insert_standing_history(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        connection.execute(insert(tables.standing_history), list(rows))


def matches_standing_history(connection: Connection, round_id: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether what is kept of a round is what it led to."""
    query = select(tables.standing_history).where(HISTORY.round == round_id)
    kept = {row.hotkey: dict(row._mapping) for row in connection.execute(query)}
    return kept == {row["hotkey"]: row for row in rows}


def delete_standing_history(connection: Connection, rounds: Sequence[str]) -> None:
    connection.execute(delete(tables.standing_history).where(HISTORY.round.in_(rounds)))
