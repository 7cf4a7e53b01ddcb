"""Open alerts: notified when they begin or escalate, again after a while, and once more when they end."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from weighbeam.engine.outbox.queue import insert_item
from weighbeam.store import tables
from weighbeam.store.database import Store

HOUR = 3600.0
RANKS = {"info": 0, "warning": 1, "critical": 2}
LASTING = frozenset(
    {
        "degraded_mode",
        "emergency_mode",
        "chain_unreadable",
        "stalled",
        "runtime_mismatch",
        "challenge_source",
        "list_refused",
        "cluster_lost",
        "worker_differs",
        "few_documents",
        "env_ignored",
        "no_burn_target",
        "mechanism_broken",
    }
)
"""Raised when they begin and not on and on: while a process lives, only what ends them says that they are over."""
COLUMNS = tables.notices.c


@dataclass(frozen=True, slots=True)
class Notice:
    """`count` is how often it was raised since it opened, `level` the worst it was, `text` the newest."""

    code: str
    mechanism: str | None
    level: str
    text: str
    opened: float
    raised: float
    count: int
    told: float | None
    closed: float | None


@dataclass(frozen=True, slots=True)
class NoticePolicy:
    """Receivers of notices, by lanes of the outbox, and their timing; `started` is the start of this process."""

    receivers: tuple[str, ...] = ()
    level: str = "warning"
    repeat_seconds: float = 24 * HOUR
    quiet_seconds: float = 3 * HOUR
    started: float = 0.0


def raise_notice(
    connection: Connection, telling: NoticePolicy, code: str, mechanism: str | None, level: str, text: str, at: float
) -> None:
    """Within the transaction that keeps the alert: a notice opens, or is raised again."""
    before = _select_notice(connection, code, mechanism)
    if before is None or before.closed is not None:
        now = Notice(code, mechanism, level, text, at, at, 1, None, None)
        what = "raised"
    else:
        worst = max(before.level, level, key=RANKS.__getitem__)
        now = Notice(code, mechanism, worst, text, before.opened, at, before.count + 1, before.told, None)
        what = "raised" if worst != before.level or before.told is None else "again"
    if _is_due(telling, now, what, at):
        times = 1 if now.told is None else _count_since(connection, now, now.told)
        _post(connection, telling, now, what, text, at, times)
        now = Notice(code, mechanism, now.level, text, now.opened, at, now.count, at, None)
    _keep(connection, now)


def end_notice(
    connection: Connection, telling: NoticePolicy, code: str, mechanism: str | None, text: str, at: float
) -> bool:
    """Close a notice and inform its receivers. False if there was none."""
    notice = _select_notice(connection, code, mechanism)
    if notice is None or notice.closed is not None:
        return False
    connection.execute(update(tables.notices).where(_is(code, mechanism)).values(closed=at))
    if notice.told is not None:
        _post(connection, telling, notice, "over", text, at, notice.count)
    return True


def is_open(connection: Connection, code: str, mechanism: str | None) -> bool:
    notice = _select_notice(connection, code, mechanism)
    return notice is not None and notice.closed is None


def list_quiet(store: Store, telling: NoticePolicy, now: float) -> list[Notice]:
    """Open notices that were not raised for so long, all of it while this process ran, that they count as over.

    A start later than now was noted before the clock jumped back, and keeps nothing open.
    """
    edge, started = now - telling.quiet_seconds, telling.started if telling.started <= now else 0.0
    return [
        notice
        for notice in list_notices(store)
        if max(min(notice.raised, now), started) <= edge and (notice.code not in LASTING or notice.raised < started)
    ]


def list_notices(store: Store) -> tuple[Notice, ...]:
    """The open notices, the worst first, the newest of them first."""
    with store.read() as connection:
        rows = connection.execute(select(tables.notices).where(COLUMNS.closed.is_(None))).all()
    found = [_parse_notice(row) for row in rows]
    return tuple(sorted(found, key=lambda one: (-RANKS.get(one.level, 0), -one.opened, one.code, one.mechanism or "")))


def _is_due(telling: NoticePolicy, notice: Notice, what: str, at: float) -> bool:
    """A time later than now was noted before the clock jumped back, and silences nobody."""
    if not telling.receivers or RANKS[notice.level] < RANKS[telling.level]:
        return False
    told = notice.told
    return told is None or what == "raised" or at - told >= telling.repeat_seconds or told > at


def _post(
    connection: Connection, telling: NoticePolicy, notice: Notice, what: str, text: str, at: float, times: int
) -> None:
    body: Mapping[str, Any] = {
        "what": what,
        "code": notice.code,
        "level": notice.level,
        "text": text,
        "opened": notice.opened,
        "at": at,
        "times": times,
    }
    for receiver in telling.receivers:
        ref = f"{notice.code}:{notice.mechanism or ''}:{secrets.token_hex(6)}"
        insert_item(connection, receiver, ref, notice.mechanism or "", at, body)


def _count_since(connection: Connection, notice: Notice, told: float) -> int:
    columns = tables.alerts.c
    mine = columns.mechanism == notice.mechanism if notice.mechanism else columns.mechanism.is_(None)
    query = select(func.count()).where(columns.code == notice.code, mine, columns.at > told)
    return max(1, int(connection.scalar(query) or 0))


def _select_notice(connection: Connection, code: str, mechanism: str | None) -> Notice | None:
    row = connection.execute(select(tables.notices).where(_is(code, mechanism))).one_or_none()
    return None if row is None else _parse_notice(row)


def _keep(connection: Connection, notice: Notice) -> None:
    connection.execute(delete(tables.notices).where(_is(notice.code, notice.mechanism)))
    row = {name: getattr(notice, name) for name in Notice.__slots__}
    connection.execute(insert(tables.notices).values({**row, "mechanism": notice.mechanism or ""}))


def _is(code: str, mechanism: str | None) -> Any:
    return (COLUMNS.code == code) & (COLUMNS.mechanism == (mechanism or ""))


def _parse_notice(row: Any) -> Notice:
    return Notice(**{**row._mapping, "mechanism": row.mechanism or None})
