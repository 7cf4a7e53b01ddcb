"""Rounds by the hour."""

from dataclasses import dataclass

from sqlalchemy import Integer, case, cast, func, select

from weighbeam.store import tables
from weighbeam.store.database import Store

HOUR = 3600.0
ROUNDS = tables.rounds.c


@dataclass(frozen=True, slots=True)
class HourLine:
    """Scored rounds of a mechanism in the hour that began at `at`."""

    at: float
    mechanism: str
    rounds: int


def count_hours(store: Store, now: float, hours: int = 24) -> tuple[HourLine, ...]:
    """The last hours, oldest first, the one under way among them. Some databases round where others cut."""
    near = cast(ROUNDS.at / HOUR, Integer)
    hour = case((near * HOUR > ROUNDS.at, near - 1), else_=near)
    first = (now // HOUR - hours + 1) * HOUR
    query = (
        select(hour, ROUNDS.mechanism, func.count())
        .where(ROUNDS.at >= first, ROUNDS.at <= now, ROUNDS.state == "scored")
        .group_by(hour, ROUNDS.mechanism)
        .order_by(hour, ROUNDS.mechanism)
    )
    with store.read() as connection:
        return tuple(HourLine(number * HOUR, name, count) for number, name, count in connection.execute(query))
