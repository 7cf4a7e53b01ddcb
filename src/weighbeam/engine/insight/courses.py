"""How standings came about lately: the last of them by miner, oldest first, and how sure the newest is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, literal, select

from weighbeam.core.averaging import move_average
from weighbeam.core.spread import spread_average
from weighbeam.engine.insight.recent import ROUNDS, find_newest, is_newest_last, read_params
from weighbeam.engine.lay_out import read_seen, read_standings
from weighbeam.engine.standing_history import HISTORY
from weighbeam.engine.weigh_in.constants import Averaging
from weighbeam.mechanisms.abilities import Spreads
from weighbeam.mechanisms.contract import Mechanism
from weighbeam.store import tables

TREND = 32
MOST_MINERS = 100_000
"""Beyond any subnet; the limit has the database find each miner's window once, before it looks for rows."""
HOUR = 3600.0
EVALUATIONS = tables.evaluations.c


@dataclass(frozen=True, slots=True)
class Course:
    """A standing, one standard error of it where that can be said, and up to 32 standings, oldest first."""

    standing: float | None
    spread: float | None = None
    trend: tuple[float, ...] = ()


def read_courses(connection: Connection, mechanism: Mechanism, averaging: Averaging) -> dict[str, Course]:
    """Of everyone with a standing; of averaged emissions, as of the newest round."""
    if mechanism.rule.standing == "emissions":
        return _average_emissions(connection, mechanism.name, averaging)
    standings = read_standings(connection, mechanism.name)
    history = _read_history(connection, mechanism.name)
    params = read_params(connection, mechanism)
    found = {}
    for standing in standings:
        course = cut_course(history.get(standing.hotkey, ()))
        spread = mechanism.spread(params, standing, course) if course and isinstance(mechanism, Spreads) else None
        found[standing.hotkey] = Course(standing.value, spread, course)
    return found


def cut_course(values: Sequence[float | None]) -> tuple[float, ...]:
    """The standings since a miner was last without one.

    >>> cut_course([2.0, None, 3.0, 4.0])
    (3.0, 4.0)
    """
    since = max((place for place, value in enumerate(values, 1) if value is None), default=0)
    return tuple(value for value in values[since:] if value is not None)


def _read_history(connection: Connection, mechanism: str) -> Mapping[str, list[float | None]]:
    """One read for all, in the order of the journal: of each miner, from its 32nd newest row on, or from its first
    while the clock is behind what it was."""
    standings, older = tables.standings.c, tables.standing_history.alias().c
    start = (
        select(older.at)
        .where(older.mechanism == mechanism, older.hotkey == standings.hotkey)
        .order_by(older.at.desc())
        .limit(1)
        .offset(TREND - 1)
        .scalar_subquery()
    )
    window = func.coalesce(start, 0.0) if is_newest_last(connection, mechanism) else literal(0.0)
    begun = select(standings.hotkey, window.label("since")).where(standings.mechanism == mechanism)
    since = begun.limit(MOST_MINERS).subquery().c
    query = (
        select(HISTORY.hotkey, HISTORY.value)
        .join_from(tables.standing_history, tables.rounds, ROUNDS.id == HISTORY.round)
        .where(HISTORY.mechanism == mechanism, HISTORY.hotkey == since.hotkey, HISTORY.at >= since.since)
        .order_by(HISTORY.hotkey, ROUNDS.sequence)
    )
    found: dict[str, list[float | None]] = {}
    for hotkey, value in connection.execute(query):
        found.setdefault(hotkey, []).append(value)
    return {hotkey: values[-TREND:] for hotkey, values in found.items()}


def _average_emissions(connection: Connection, mechanism: str, averaging: Averaging) -> dict[str, Course]:
    newest = find_newest(connection, mechanism)
    paid: dict[str, list[float]] = {hotkey: [] for hotkey in read_seen(connection, mechanism)}
    if newest is not None:
        for hotkey, emission in _read_emissions(connection, mechanism, newest, averaging):
            paid.setdefault(hotkey, []).append(emission)
    return {hotkey: fold_course(emissions, averaging.ema_alpha) for hotkey, emissions in paid.items()}


def _read_emissions(
    connection: Connection, mechanism: str, newest: float, averaging: Averaging
) -> Sequence[tuple[str, float]]:
    """Of everyone inside the window, miner by miner, oldest first."""
    miners = select(tables.miners.c.hotkey).where(tables.miners.c.mechanism == mechanism)
    known = miners.limit(MOST_MINERS).subquery().c
    oldest = newest - averaging.ema_lookback_hours * HOUR
    query = (
        select(EVALUATIONS.hotkey, EVALUATIONS.emission)
        .where(EVALUATIONS.mechanism == mechanism, EVALUATIONS.hotkey == known.hotkey)
        .where(EVALUATIONS.at >= oldest, EVALUATIONS.at <= newest, EVALUATIONS.emission.is_not(None))
        .order_by(EVALUATIONS.hotkey, EVALUATIONS.at, EVALUATIONS.round)
    )
    return [(hotkey, emission) for hotkey, emission in connection.execute(query)]


def read_emission_course(connection: Connection, mechanism: str, hotkey: str, averaging: Averaging) -> dict[str, float]:
    """One miner's average after each round of the window, by round."""
    newest = find_newest(connection, mechanism) or 0.0
    oldest = newest - averaging.ema_lookback_hours * HOUR
    query = (
        select(EVALUATIONS.round, EVALUATIONS.emission)
        .where(EVALUATIONS.mechanism == mechanism, EVALUATIONS.hotkey == hotkey, EVALUATIONS.emission.is_not(None))
        .where(EVALUATIONS.at >= oldest, EVALUATIONS.at <= newest)
        .order_by(EVALUATIONS.at, EVALUATIONS.round)
    )
    course: dict[str, float] = {}
    average = 0.0
    for round_id, emission in connection.execute(query):
        average = course[round_id] = move_average(average, emission, averaging.ema_alpha)
    return course


def fold_course(emissions: Sequence[float], alpha: float) -> Course:
    """The average after each emission, from zero on.

    >>> fold_course([1.0, 0.0], 0.3).trend
    (0.3, 0.21)
    """
    course = [0.0]
    for emission in emissions:
        course.append(move_average(course[-1], emission, alpha))
    spread = spread_average(emissions, [alpha] * len(emissions))
    return Course(course[-1], spread, tuple(course[1:][-TREND:]))
