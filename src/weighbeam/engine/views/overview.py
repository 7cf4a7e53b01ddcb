"""How a validator is doing, from its store alone: mechanisms, open alerts, rounds by the hour."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Integer, case, cast, func, select

from weighbeam.engine.alerts.notices import Notice, list_notices
from weighbeam.engine.rules.constants import BLOCK_SECONDS
from weighbeam.engine.support.lock import has_validator
from weighbeam.engine.weights.audit import ATTEMPT_KINDS, AuditLine, list_recent_attempts, select_next_due
from weighbeam.engine.weights.metagraphs import GRAPHS
from weighbeam.store import tables
from weighbeam.store.database import Store
from weighbeam.store.memory import look_up

HOUR_SECONDS = 3600.0
ROUND_COLUMNS = tables.rounds.c


@dataclass(frozen=True, slots=True)
class HourCount:
    """Scored rounds of a mechanism in the hour that began at `at`."""

    at: float
    mechanism: str
    rounds: int


def count_hours(store: Store, now: float, hours: int = 24) -> tuple[HourCount, ...]:
    """The last hours, oldest first, the one under way among them. Some databases round where others cut."""
    near = cast(ROUND_COLUMNS.at / HOUR_SECONDS, Integer)
    hour = case((near * HOUR_SECONDS > ROUND_COLUMNS.at, near - 1), else_=near)
    first = (now // HOUR_SECONDS - hours + 1) * HOUR_SECONDS
    query = (
        select(hour, ROUND_COLUMNS.mechanism, func.count())
        .where(ROUND_COLUMNS.at >= first, ROUND_COLUMNS.at <= now, ROUND_COLUMNS.state == "scored")
        .group_by(hour, ROUND_COLUMNS.mechanism)
        .order_by(hour, ROUND_COLUMNS.mechanism)
    )
    with store.read() as connection:
        return tuple(HourCount(number * HOUR_SECONDS, name, count) for number, name, count in connection.execute(query))


HOUR = 3600.0
ROUNDS, REQUESTS = tables.rounds.c, tables.requests.c


@dataclass(frozen=True, slots=True)
class LastRound:
    """The newest scored round, and how many of its answers were valid."""

    id: str
    at: float
    block: int
    answers: int
    valid: int


@dataclass(frozen=True, slots=True)
class MechanismView:
    """One mechanism. `mode` is that of its last weigh-in. `blocks` are those since our weights as last read at
    `blocks_at`, `blocks_now` what that makes now at 12 seconds a block. `rounds_per_hour` is over the last 24 hours;
    `limit_blocks` is the chain's limit of inactivity, if it was ever noted."""

    name: str
    mode: str | None
    blocks: int | None
    blocks_at: float | None
    blocks_now: int | None
    limit_blocks: int | None
    last_weigh_in: AuditLine | None
    next_weigh_in: float | None
    last_round: LastRound | None
    rounds_last_hour: int
    rounds_per_hour: float
    waiting: int


@dataclass(frozen=True, slots=True)
class Overview:
    """All mechanisms, and what is wrong now, the worst first. `running`: a validator runs on this journal, so what is
    due will happen; `last_entry` is when the newest round or weigh-in was."""

    at: float
    mechanisms: tuple[MechanismView, ...]
    notices: tuple[Notice, ...]
    running: bool = False
    last_entry: float | None = None


def select_overview(store: Store, mechanisms: Sequence[str], now: float) -> Overview:
    """`now` is the journal's clock; the wall's clock decides whether a validator runs."""
    with store.read() as connection:
        views = tuple(_view(connection, name, now) for name in mechanisms)
        running, last = has_validator(connection, time.time()), _select_last_entry(connection)
    return Overview(now, views, list_notices(store), running, last)


def _select_last_entry(connection: Connection) -> float | None:
    audits = tables.audits.c
    times = (
        connection.scalar(select(func.max(ROUNDS.at))),
        connection.scalar(select(func.max(audits.at)).where(audits.kind.in_(ATTEMPT_KINDS))),
    )
    return max((at for at in times if at is not None), default=None)


def _view(connection: Connection, name: str, now: float) -> MechanismView:
    tries = list_recent_attempts(connection, name, now)
    last = tries[0] if tries else None
    kept = look_up(connection, f"blocks:{name}")
    body = connection.scalar(
        select(tables.metagraphs.c.body).where(GRAPHS.mechanism == name).order_by(GRAPHS.block.desc()).limit(1)
    )
    return MechanismView(
        name=name,
        mode=last.mode if last else None,
        blocks=kept["blocks"] if kept else None,
        blocks_at=kept["at"] if kept else None,
        blocks_now=_estimate(kept["blocks"], now - kept["at"]) if kept else None,
        limit_blocks=body["activity_cutoff"] if body else None,
        last_weigh_in=last,
        next_weigh_in=select_next_due(connection, name, tries, now),
        last_round=_select_last_round(connection, name),
        rounds_last_hour=_count_rounds(connection, name, now - HOUR, now),
        rounds_per_hour=_count_rounds(connection, name, now - 24 * HOUR, now) / 24,
        waiting=_count_waiting(connection, name),
    )


def _estimate(blocks: int, seconds: float) -> int:
    return blocks + math.floor(max(0.0, seconds) / BLOCK_SECONDS)


def _select_last_round(connection: Connection, name: str) -> LastRound | None:
    query = select(ROUNDS.id, ROUNDS.at, ROUNDS.block).where(ROUNDS.mechanism == name, ROUNDS.sequence.is_not(None))
    row = connection.execute(query.order_by(ROUNDS.sequence.desc()).limit(1)).one_or_none()
    if row is None:
        return None
    scores = tables.scores.c
    counts = select(func.count(), func.count().filter(scores.status == "valid")).where(scores.round == row.id)
    answers, valid = connection.execute(counts).one()
    return LastRound(row.id, row.at, row.block, answers, valid)


def _count_rounds(connection: Connection, name: str, since: float, now: float) -> int:
    """Count rounds; those dated in the future were recorded before the clock jumped back."""
    query = select(func.count()).where(ROUNDS.mechanism == name, ROUNDS.at > since, ROUNDS.at <= now)
    return int(connection.scalar(query.where(ROUNDS.state == "scored")) or 0)


def _count_waiting(connection: Connection, name: str) -> int:
    query = select(func.count()).where(REQUESTS.mechanism == name, REQUESTS.state == "waiting")
    return int(connection.scalar(query) or 0)
