"""Average emissions selected from the journal's evaluations, continued from the last fold where possible."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select

from weighbeam.core.stats import move_average
from weighbeam.engine.rules.averages import Average
from weighbeam.engine.rules.constants import Averaging
from weighbeam.store import tables

EVALUATIONS, FOLDS = tables.evaluations.c, tables.folds.c


def select_averages(
    connection: Connection, mechanism: str, hotkeys: Collection[str], now: float, averaging: Averaging, lookback: bool
) -> dict[str, Average]:
    """The average of each hotkey at `now`; without `lookback` over all that retention keeps, however often it runs."""
    if not lookback:
        hours = averaging.db_retention_hours
        return {hotkey: _fold_all(connection, mechanism, hotkey, now, averaging, hours) for hotkey in hotkeys}
    return {hotkey: _continue(connection, mechanism, hotkey, now, averaging) for hotkey in hotkeys}


def update_folds(
    connection: Connection, mechanism: str, averages: Mapping[str, Average], now: float, averaging: Averaging
) -> None:
    """Remember where each fold stopped, for the next weigh-in to go on from."""
    connection.execute(delete(tables.folds).where(FOLDS.mechanism == mechanism, FOLDS.hotkey.in_(list(averages))))
    rows = []
    for hotkey, average in averages.items():
        first = _select_edge(connection, mechanism, hotkey, now, averaging, newest=False)
        last = _select_edge(connection, mechanism, hotkey, now, averaging, newest=True)
        if first is not None and last is not None:
            kept = {"ema": average.ema, "folded": average.count, "oldest": first.round, "newest": last.round}
            named = {"mechanism": mechanism, "hotkey": hotkey, "settings": name_fold(averaging)}
            rows.append({**named, **kept, "newest_at": last.at})
    if rows:
        connection.execute(insert(tables.folds), rows)


def _continue(connection: Connection, mechanism: str, hotkey: str, now: float, averaging: Averaging) -> Average:
    kept = connection.execute(
        select(tables.folds).where(FOLDS.mechanism == mechanism, FOLDS.hotkey == hotkey)
    ).one_or_none()
    first = _select_edge(connection, mechanism, hotkey, now, averaging, newest=False)
    usable = kept is not None and first is not None and kept.oldest == first.round and kept.newest_at <= now
    if kept is None or not usable or kept.settings != name_fold(averaging):
        return _fold_all(connection, mechanism, hotkey, now, averaging, averaging.ema_lookback_hours)
    query = _scored(mechanism, hotkey).where(EVALUATIONS.at > kept.newest_at)
    return _go_on(connection, query, Average(kept.ema, kept.folded, kept.newest_at, 0), now, averaging.ema_alpha)


def _fold_all(
    connection: Connection, mechanism: str, hotkey: str, now: float, averaging: Averaging, lookback: float
) -> Average:
    query = _scored(mechanism, hotkey).where(EVALUATIONS.at >= now - lookback * 3600)
    return _go_on(connection, query, Average(0.0, 0, None, 0), now, averaging.ema_alpha)


def _go_on(connection: Connection, query: Any, average: Average, now: float, alpha: float) -> Average:
    """Fold the rows of a query, oldest first, into an average; rows later than `now` are only counted."""
    ema, count, last_at, future = average.ema, average.count, average.last_at, 0
    for at, emission in connection.execute(query.order_by(EVALUATIONS.at, EVALUATIONS.round)):
        if at > now:
            future += 1
        else:
            ema, count, last_at = move_average(ema, emission, alpha), count + 1, at
    return Average(ema, count, last_at, future)


def _select_edge(
    connection: Connection, mechanism: str, hotkey: str, now: float, averaging: Averaging, newest: bool
) -> Row[Any] | None:
    """The oldest or the newest evaluation inside the window."""
    start = now - averaging.ema_lookback_hours * 3600
    scored = _scored(mechanism, hotkey, EVALUATIONS.at, EVALUATIONS.round)
    query = scored.where(EVALUATIONS.at >= start, EVALUATIONS.at <= now)
    order = (EVALUATIONS.at.desc(), EVALUATIONS.round.desc()) if newest else (EVALUATIONS.at, EVALUATIONS.round)
    return connection.execute(query.order_by(*order).limit(1)).one_or_none()


def _scored(mechanism: str, hotkey: str, *columns: Any) -> Any:
    return select(*(columns or (EVALUATIONS.at, EVALUATIONS.emission))).where(
        EVALUATIONS.mechanism == mechanism, EVALUATIONS.hotkey == hotkey, EVALUATIONS.emission.is_not(None)
    )


def count_later(connection: Connection, mechanism: str, now: float) -> int:
    """Evaluations of any miner that are later than now: the clock was set back."""
    query = select(func.count()).where(EVALUATIONS.mechanism == mechanism, EVALUATIONS.at > now)
    return int(connection.scalar(query) or 0)


def name_fold(averaging: Averaging) -> str:
    """The settings of a fold: it is continued only under the same ones."""
    return f"{averaging.ema_alpha!r}/{averaging.ema_lookback_hours!r}/zero"
