"""Recent standings of each miner, oldest first, with the standard error of the newest; cached until there is a newer
round.

The last 24 hours before the newest round, and of those the newest 500 rounds.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, func, literal, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.stats import move_average, spread_average
from weighbeam.engine.journal.projections import HISTORY, select_last_seen, select_standings
from weighbeam.engine.rules.averages import find_factor
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.support.cache import StoreMemo
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params, make_params, recall_params
from weighbeam.store import tables
from weighbeam.store.blobs import select_blob

DAY = 24 * 3600.0
MAX_ROUNDS = 500
ROUNDS = tables.rounds.c


def select_newest_time(connection: Connection, mechanism: str) -> float | None:
    """When the newest scored round of a mechanism was."""
    query = select(ROUNDS.at).where(ROUNDS.mechanism == mechanism, ROUNDS.state == "scored")
    newest: float | None = connection.scalar(query.order_by(ROUNDS.at.desc()).limit(1))
    return newest


def is_newest_last(connection: Connection, mechanism: str) -> bool:
    """Whether the last round of the journal has the latest time: not while the clock is behind what it was."""
    query = select(ROUNDS.at).where(ROUNDS.mechanism == mechanism, ROUNDS.state == "scored")
    return connection.scalar(query.order_by(ROUNDS.sequence.desc()).limit(1)) == select_newest_time(
        connection, mechanism
    )


def query_recent(mechanism: str, newest: float) -> Select[Any]:
    """The rounds counted over: id and time."""
    query = select(ROUNDS.id, ROUNDS.at, ROUNDS.sequence).where(
        ROUNDS.mechanism == mechanism, ROUNDS.at >= newest - DAY
    )
    return query.where(ROUNDS.state == "scored").order_by(ROUNDS.at.desc()).limit(MAX_ROUNDS)


def select_params(connection: Connection, mechanism: Mechanism) -> Params:
    """The parameters of the newest round; the mechanism's own if there is none, or it knows them no more."""
    query = select(ROUNDS.body).where(ROUNDS.mechanism == mechanism.name, ROUNDS.state == "scored")
    digest = connection.scalar(query.order_by(ROUNDS.sequence.desc()).limit(1))
    if digest is not None:
        with suppress(WeighbeamError):
            return recall_params(mechanism, json.loads(select_blob(connection, digest))["params"])
    return make_params(mechanism)


TREND_LENGTH = 32
MAX_MINERS = 100_000
"""Beyond any subnet; the limit has the database find each miner's window once, before it looks for rows."""
HOUR = 3600.0
EVALUATIONS = tables.evaluations.c


@dataclass(frozen=True, slots=True)
class StandingTrend:
    """A standing, one standard error of it where that can be said, and up to 32 standings, oldest first."""

    standing: float | None
    spread: float | None = None
    trend: tuple[float, ...] = ()

    def scale(self, factor: float) -> "StandingTrend":
        """Everything times what a mechanism's own memory of the miner makes of it now.

        >>> StandingTrend(2.0, None, (1.0, 2.0)).scale(0.5)
        StandingTrend(standing=1.0, spread=None, trend=(0.5, 1.0))
        """
        if factor == 1.0:
            return self
        value, spread = (None if one is None else factor * one for one in (self.standing, self.spread))
        return StandingTrend(value, spread, tuple(factor * one for one in self.trend))


def select_trends(connection: Connection, mechanism: Mechanism, averaging: Averaging) -> dict[str, StandingTrend]:
    """Of everyone with a standing; of averaged emissions, as of the newest round."""
    if mechanism.rule.standing == "emissions":
        return _average_emissions(connection, mechanism.name, averaging)
    standings = select_standings(connection, mechanism.name)
    history = _select_history(connection, mechanism.name)
    params = select_params(connection, mechanism)
    found = {}
    for standing in standings:
        course = cut_trend(history.get(standing.hotkey, ()))
        spread = mechanism.spread(params, standing, course) if course else None
        found[standing.hotkey] = StandingTrend(standing.value, spread, course)
    return found


def cut_trend(values: Sequence[float | None]) -> tuple[float, ...]:
    """The standings since a miner was last without one.

    >>> cut_trend([2.0, None, 3.0, 4.0])
    (3.0, 4.0)
    """
    since = max((place for place, value in enumerate(values, 1) if value is None), default=0)
    return tuple(value for value in values[since:] if value is not None)


def _select_history(connection: Connection, mechanism: str) -> Mapping[str, list[float | None]]:
    """One read for all, in the order of the journal: of each miner, from its 32nd newest row on, or from its first
    while the clock is behind what it was."""
    standings, older = tables.standings.c, tables.standing_history.alias().c
    start = (
        select(older.at)
        .where(older.mechanism == mechanism, older.hotkey == standings.hotkey)
        .order_by(older.at.desc())
        .limit(1)
        .offset(TREND_LENGTH - 1)
        .scalar_subquery()
    )
    window = func.coalesce(start, 0.0) if is_newest_last(connection, mechanism) else literal(0.0)
    begun = select(standings.hotkey, window.label("since")).where(standings.mechanism == mechanism)
    since = begun.limit(MAX_MINERS).subquery().c
    query = (
        select(HISTORY.hotkey, HISTORY.value)
        .join_from(tables.standing_history, tables.rounds, ROUNDS.id == HISTORY.round)
        .where(HISTORY.mechanism == mechanism, HISTORY.hotkey == since.hotkey, HISTORY.at >= since.since)
        .order_by(HISTORY.hotkey, ROUNDS.sequence)
    )
    found: dict[str, list[float | None]] = {}
    for hotkey, value in connection.execute(query):
        found.setdefault(hotkey, []).append(value)
    return {hotkey: values[-TREND_LENGTH:] for hotkey, values in found.items()}


def _average_emissions(connection: Connection, mechanism: str, averaging: Averaging) -> dict[str, StandingTrend]:
    newest = select_newest_time(connection, mechanism)
    paid: dict[str, list[float]] = {hotkey: [] for hotkey in select_last_seen(connection, mechanism)}
    if newest is not None:
        for hotkey, emission in _select_emissions(connection, mechanism, newest, averaging):
            paid.setdefault(hotkey, []).append(emission)
    factors = {standing.hotkey: find_factor(standing.detail) for standing in select_standings(connection, mechanism)}
    return {
        hotkey: fold_trend(emissions, averaging.ema_alpha).scale(factors.get(hotkey, 1.0))
        for hotkey, emissions in paid.items()
    }


def _select_emissions(
    connection: Connection, mechanism: str, newest: float, averaging: Averaging
) -> Sequence[tuple[str, float]]:
    """Of everyone inside the window, miner by miner, oldest first."""
    miners = select(tables.miners.c.hotkey).where(tables.miners.c.mechanism == mechanism)
    known = miners.limit(MAX_MINERS).subquery().c
    oldest = newest - averaging.ema_lookback_hours * HOUR
    query = (
        select(EVALUATIONS.hotkey, EVALUATIONS.emission)
        .where(EVALUATIONS.mechanism == mechanism, EVALUATIONS.hotkey == known.hotkey)
        .where(EVALUATIONS.at >= oldest, EVALUATIONS.at <= newest, EVALUATIONS.emission.is_not(None))
        .order_by(EVALUATIONS.hotkey, EVALUATIONS.at, EVALUATIONS.round)
    )
    return [(hotkey, emission) for hotkey, emission in connection.execute(query)]


def select_emission_trend(
    connection: Connection, mechanism: str, hotkey: str, averaging: Averaging
) -> dict[str, float]:
    """One miner's average after each round of the window, by round."""
    newest = select_newest_time(connection, mechanism) or 0.0
    oldest = newest - averaging.ema_lookback_hours * HOUR
    query = (
        select(EVALUATIONS.round, EVALUATIONS.emission)
        .where(EVALUATIONS.mechanism == mechanism, EVALUATIONS.hotkey == hotkey, EVALUATIONS.emission.is_not(None))
        .where(EVALUATIONS.at >= oldest, EVALUATIONS.at <= newest)
        .order_by(EVALUATIONS.at, EVALUATIONS.round)
    )
    kept = next((one for one in select_standings(connection, mechanism) if one.hotkey == hotkey), None)
    factor = find_factor(kept.detail if kept else None)
    course: dict[str, float] = {}
    average = 0.0
    for round_id, emission in connection.execute(query):
        average = move_average(average, emission, averaging.ema_alpha)
        course[round_id] = factor * average
    return course


def fold_trend(emissions: Sequence[float], alpha: float) -> StandingTrend:
    """The average after each emission, from zero on.

    >>> fold_trend([1.0, 0.0], 0.3).trend
    (0.3, 0.21)
    """
    course = [0.0]
    for emission in emissions:
        course.append(move_average(course[-1], emission, alpha))
    spread = spread_average(emissions, [alpha] * len(emissions))
    return StandingTrend(course[-1], spread, tuple(course[1:][-TREND_LENGTH:]))


ROUND_COLUMNS = tables.rounds.c
TRENDS: StoreMemo[Mapping[str, StandingTrend]] = StoreMemo()


def recall_trends(connection: Connection, mechanism: Mechanism, averaging: Averaging) -> Mapping[str, StandingTrend]:
    """As `select_trends` reads them."""
    key, mark = (type(mechanism), mechanism.name, averaging), select_ends(connection, mechanism.name)
    return TRENDS.get(connection, key, mark, lambda: select_trends(connection, mechanism, averaging))


def select_ends(connection: Connection, mechanism: str) -> tuple[int | None, int | None]:
    """The first and the last entry of a mechanism's rounds: one moves with every commit, the other with clean-ups."""
    query = (
        select(ROUND_COLUMNS.sequence)
        .where(ROUND_COLUMNS.mechanism == mechanism, ROUND_COLUMNS.sequence.is_not(None))
        .limit(1)
    )
    first = connection.scalar(query.order_by(ROUND_COLUMNS.sequence))
    return first, connection.scalar(query.order_by(ROUND_COLUMNS.sequence.desc()))
