"""Changes of a store: rounds committed, weigh-ins, submissions that moved, alerts (numbers and codes, no texts), and a
version that changes with them.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sqlalchemy import Column, Connection, Select, func, select

from weighbeam.engine.weights.audit import ATTEMPT_KINDS
from weighbeam.store import tables
from weighbeam.store.database import Store

MAX_MOVING = 16


def select_version(store: Store) -> str:
    """The newest of everything that is added to, and where it stands what moves. A few looks at the ends of indices."""
    with store.read() as connection:
        seen = [tuple(row) for query in list_ends() for row in connection.execute(query)]
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:16]


def list_ends() -> list[Select[tuple[object, ...]]]:
    entries, rounds, requests = tables.entries.c, tables.rounds.c, tables.requests.c
    sent, notices, graphs, todo = tables.submissions.c, tables.notices.c, tables.metagraphs.c, tables.outbox.c
    return [
        select(func.max(entries.sequence)),
        select(func.min(entries.sequence)),
        select(rounds.id, rounds.state).order_by(rounds.at.desc(), rounds.id.desc()).limit(1),
        select(func.max(tables.alerts.c.id)),
        select(func.max(tables.audits.c.id)),
        select(sent.id, sent.state, sent.reason, sent.included_block).order_by(sent.id.desc()).limit(MAX_MOVING),
        select(requests.mechanism, requests.state, func.count()).group_by(requests.mechanism, requests.state),
        select(graphs.mechanism, func.max(graphs.block)).group_by(graphs.mechanism),
        select(func.max(todo.id)),
        select(func.count()).where(todo.state == "waiting"),
        select(func.max(notices.raised), func.max(notices.closed), func.count()),
        *(select(func.max(key)) for key in list_counters()),
    ]


def list_counters() -> list[Column[Any]]:
    """The keys that the store counts up in tables of mechanisms: the greatest one changes with each row added."""
    keys = [table.autoincrement_column for table in tables.load_mechanism_tables()]
    return [key for key in keys if key is not None]


Kind = Literal["round", "weigh_in", "submission", "alert", "missed"]
MAX_EVENTS = 200
WRITTEN = re.compile(r"([0-9]{1,18})-([0-9]{1,18})-([0-9]{1,18})", re.ASCII)


@dataclass(frozen=True, slots=True)
class NewsPosition:
    """How far somebody knows: the last entry of the journal, the last line of the audit trail, the last alert."""

    entry: int = 0
    audit: int = 0
    alert: int = 0

    def format(self) -> str:
        return f"{self.entry}-{self.audit}-{self.alert}"


@dataclass(frozen=True, slots=True)
class JournalEvent:
    """One event, and the position in the journal up to which its receiver is informed."""

    kind: Kind
    data: Mapping[str, Any]
    position: NewsPosition


@dataclass(frozen=True, slots=True)
class NewsState:
    """How far was read, and where the newest submissions stood."""

    position: NewsPosition
    states: Mapping[int, str] = field(default_factory=dict)


def parse_position(text: str) -> NewsPosition | None:
    """
    >>> parse_position("12-5-7"), parse_position("12-5")
    (NewsPosition(entry=12, audit=5, alert=7), None)
    """
    found = WRITTEN.fullmatch(text)
    return None if found is None else NewsPosition(*map(int, found.groups()))


def select_news_state(store: Store) -> NewsState:
    """How far a store is now."""
    ends = (tables.entries.c.sequence, tables.audits.c.id, tables.alerts.c.id)
    with store.read() as connection:
        position = NewsPosition(*(int(connection.scalar(select(func.max(end))) or 0) for end in ends))
        return NewsState(position, {row["id"]: row["state"] for row in _list_moving(connection)})


def select_news(store: Store, seen: NewsState) -> tuple[list[JournalEvent], NewsState]:
    """Events after `seen`, in order and limited in number, and the position after them."""
    with store.read() as connection:
        events = _list_added(connection, seen.position, None)
        at = events[-1].position if events else seen.position
        moving = _list_moving(connection)
    moved = [row for row in moving if seen.states.get(row["id"]) != row["state"]]
    events += [JournalEvent("submission", row, at) for row in moved]
    return events, NewsState(at, {row["id"]: row["state"] for row in moving})


def select_missed(store: Store, since: NewsPosition, until: NewsPosition) -> list[JournalEvent]:
    """Events a listener missed, and the state of the newest submissions; `missed` alone if there are too many."""
    with store.read() as connection:
        events = _list_added(connection, since, until)
        newest = {row["mechanism"]: row for row in _list_moving(connection)}
    if len(events) >= MAX_EVENTS or since.entry > until.entry:
        return [JournalEvent("missed", {"after": since.format()}, until)]
    at = events[-1].position if events else since
    return [*events, *(JournalEvent("submission", row, at) for row in newest.values())]


def _list_added(connection: Connection, since: NewsPosition, until: NewsPosition | None) -> list[JournalEvent]:
    events: list[JournalEvent] = []
    at = since
    for sequence, data in _list_rounds(connection, since.entry, until):
        at = replace(at, entry=sequence)
        events.append(JournalEvent("round", data, at))
    for number, data in _list_tries(connection, since.audit, until):
        at = replace(at, audit=number)
        events.append(JournalEvent("weigh_in", data, at))
    for number, data in _list_alerts(connection, since.alert, until):
        at = replace(at, alert=number)
        events.append(JournalEvent("alert", data, at))
    return events


def _list_rounds(connection: Connection, after: int, until: NewsPosition | None) -> list[tuple[int, dict[str, Any]]]:
    entries, rounds, scores = tables.entries.c, tables.rounds.c, tables.scores.c
    counted = select(func.count()).select_from(tables.scores).where(scores.round == rounds.id)
    query = (
        select(
            entries.sequence,
            rounds.id.label("round"),
            rounds.mechanism,
            rounds.at,
            rounds.block,
            counted.correlate(tables.rounds).scalar_subquery().label("answers"),
            counted.where(scores.status == "valid").correlate(tables.rounds).scalar_subquery().label("valid"),
        )
        .select_from(tables.entries.join(tables.rounds, rounds.id == entries.ref))
        .where(entries.sequence > after, entries.kind == "round")
        .order_by(entries.sequence)
        .limit(MAX_EVENTS)
    )
    if until is not None:
        query = query.where(entries.sequence <= until.entry)
    return [(row.sequence, dict(row._mapping)) for row in connection.execute(query)]


def _list_tries(connection: Connection, after: int, until: NewsPosition | None) -> list[tuple[int, dict[str, Any]]]:
    columns = tables.audits.c
    query = select(columns.id, columns.mechanism, columns.at, columns.kind, columns.mode, columns.reason)
    query = query.where(columns.id > after, columns.kind.in_(ATTEMPT_KINDS)).order_by(columns.id).limit(MAX_EVENTS)
    if until is not None:
        query = query.where(columns.id <= until.audit)
    return [(row.id, dict(row._mapping)) for row in connection.execute(query)]


def _list_alerts(connection: Connection, after: int, until: NewsPosition | None) -> list[tuple[int, dict[str, Any]]]:
    columns = tables.alerts.c
    query = select(columns.id, columns.mechanism, columns.at, columns.code, columns.level)
    query = query.where(columns.id > after).order_by(columns.id).limit(MAX_EVENTS)
    if until is not None:
        query = query.where(columns.id <= until.alert)
    return [(row.id, dict(row._mapping)) for row in connection.execute(query)]


def _list_moving(connection: Connection) -> list[dict[str, Any]]:
    """The newest submissions, oldest first."""
    columns = tables.submissions.c
    query = select(
        columns.id, columns.mechanism, columns.at, columns.state, columns.reason, columns.included_block
    ).order_by(columns.id.desc())
    return [dict(row._mapping) for row in connection.execute(query.limit(MAX_MOVING))][::-1]
