"""Standings and histories read the plain way, every score of the journal: what faster readers must agree with."""

from typing import NamedTuple

from sqlalchemy import func, select

from weighbeam.engine.journal.projections import select_last_seen, select_standings
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.weights.emissions import select_averages
from weighbeam.mechanism.base import Mechanism
from weighbeam.store import tables
from weighbeam.store.database import Store


class Line(NamedTuple):
    hotkey: str
    standing: float | None
    rounds: int
    valid: int
    last_reason: str


def list_standings(store: Store, mechanism: Mechanism, averaging: Averaging) -> list[Line]:
    """Best first, the unranked last."""
    name, rounds, scores = mechanism.name, tables.rounds.c, tables.scores.c
    query = (
        select(scores.hotkey, scores.status, scores.reasons)
        .select_from(tables.scores.join(tables.rounds, scores.round == rounds.id))
        .where(rounds.mechanism == name)
        .order_by(rounds.sequence)
    )
    history: dict[str, tuple[int, int, str]] = {}
    with store.read() as connection:
        standings = {one.hotkey: one.value for one in select_standings(connection, name)}
        if mechanism.rule.standing == "emissions":
            newest = connection.scalar(select(func.max(rounds.at)).where(rounds.mechanism == name)) or 0.0
            averages = select_averages(
                connection, name, select_last_seen(connection, name), newest, averaging, lookback=True
            )
            standings = {hotkey: average.ema for hotkey, average in averages.items()}
        for hotkey, status, reasons in connection.execute(query):
            total, valid, last = history.get(hotkey, (0, 0, ""))
            history[hotkey] = total + 1, valid + (status == "valid"), ", ".join(reasons) or last
    lines = [Line(hotkey, value, *history.get(hotkey, (0, 0, ""))) for hotkey, value in standings.items()]
    sign = 1.0 if mechanism.better == "lower" else -1.0
    return sorted(lines, key=lambda line: (line.standing is None, sign * (line.standing or 0.0), line.hotkey))
