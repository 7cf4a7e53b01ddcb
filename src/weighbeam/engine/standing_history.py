"""Standings over time: one row per miner and round that counted for it, kept with the round and for people only.

Mechanisms that are paid by averaged emissions have none: their course follows from `evaluations`. A store from before
this table has no rows for its older rounds.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from weighbeam.mechanisms.contract import Mechanism, Scored, Standing
from weighbeam.store import tables

HISTORY = tables.standing_history.c


def list_after(
    mechanism: Mechanism,
    round_id: str,
    at: float,
    task: Mapping[str, Any],
    scored: Scored,
    standings: Sequence[Standing],
) -> list[dict[str, Any]]:
    """The standing of everyone whom a ranked round judged; who was asked besides the group is not among them."""
    if mechanism.rule.standing == "emissions" or not task.get("ranked", True):
        return []
    values = {standing.hotkey: standing.value for standing in standings}
    extra = set(task.get("extra", ()))
    judged = [score.hotkey for score in scored.scores if score.status != "unscored" and score.hotkey not in extra]
    named = {"mechanism": mechanism.name, "round": round_id, "at": at}
    return [{**named, "hotkey": hotkey, "value": values[hotkey]} for hotkey in judged if hotkey in values]


def write_after(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        connection.execute(insert(tables.standing_history), list(rows))


def matches_after(connection: Connection, round_id: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether what is kept of a round is what it led to; a round from before the table has nothing kept."""
    query = select(tables.standing_history).where(HISTORY.round == round_id)
    kept = {row.hotkey: dict(row._mapping) for row in connection.execute(query)}
    return not kept or kept == {row["hotkey"]: row for row in rows}


def forget_after(connection: Connection, rounds: Sequence[str]) -> None:
    connection.execute(delete(tables.standing_history).where(HISTORY.round.in_(rounds)))
