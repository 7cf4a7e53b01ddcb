"""What happened since: rounds committed, weigh-ins, submissions that moved, alerts. Numbers and codes, no texts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sqlalchemy import Connection, func, select

from weighbeam.engine.audit import TRIES
from weighbeam.store import tables
from weighbeam.store.database import Store

Kind = Literal["round", "weigh_in", "submission", "alert", "missed"]
MOST = 200
MOVING = 16
WRITTEN = re.compile(r"([0-9]{1,18})-([0-9]{1,18})-([0-9]{1,18})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Position:
    """How far somebody knows: the last entry of the journal, the last line of the audit trail, the last alert."""

    entry: int = 0
    audit: int = 0
    alert: int = 0

    def write(self) -> str:
        return f"{self.entry}-{self.audit}-{self.alert}"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, and how far somebody knows who was told."""

    kind: Kind
    data: Mapping[str, Any]
    position: Position


@dataclass(frozen=True, slots=True)
class Seen:
    """How far was read, and where the newest submissions stood."""

    position: Position
    states: Mapping[int, str] = field(default_factory=dict)


def read_position(text: str) -> Position | None:
    """
    >>> read_position("12-5-7"), read_position("12-5")
    (Position(entry=12, audit=5, alert=7), None)
    """
    found = WRITTEN.fullmatch(text)
    return None if found is None else Position(*map(int, found.groups()))


def read_seen(store: Store) -> Seen:
    """How far a store is now."""
    ends = (tables.entries.c.sequence, tables.audits.c.id, tables.alerts.c.id)
    with store.read() as connection:
        position = Position(*(int(connection.scalar(select(func.max(end))) or 0) for end in ends))
        return Seen(position, {row["id"]: row["state"] for row in _list_moving(connection)})


def read_news(store: Store, seen: Seen) -> tuple[list[Event], Seen]:
    """What happened after `seen`, in order, so much at most; and what was seen with it."""
    with store.read() as connection:
        events = _list_added(connection, seen.position, None)
        at = events[-1].position if events else seen.position
        moving = _list_moving(connection)
    moved = [row for row in moving if seen.states.get(row["id"]) != row["state"]]
    events += [Event("submission", row, at) for row in moved]
    return events, Seen(at, {row["id"]: row["state"] for row in moving})


def read_missed(store: Store, since: Position, until: Position) -> list[Event]:
    """What somebody missed who was away, and where the newest submissions stand; `missed` alone if it is too much."""
    with store.read() as connection:
        events = _list_added(connection, since, until)
        newest = {row["mechanism"]: row for row in _list_moving(connection)}
    if len(events) >= MOST or since.entry > until.entry:
        return [Event("missed", {"after": since.write()}, until)]
    at = events[-1].position if events else since
    return [*events, *(Event("submission", row, at) for row in newest.values())]


def _list_added(connection: Connection, since: Position, until: Position | None) -> list[Event]:
    events: list[Event] = []
    at = since
    for sequence, data in _list_rounds(connection, since.entry, until):
        at = replace(at, entry=sequence)
        events.append(Event("round", data, at))
    for number, data in _list_tries(connection, since.audit, until):
        at = replace(at, audit=number)
        events.append(Event("weigh_in", data, at))
    for number, data in _list_alerts(connection, since.alert, until):
        at = replace(at, alert=number)
        events.append(Event("alert", data, at))
    return events


def _list_rounds(connection: Connection, after: int, until: Position | None) -> list[tuple[int, dict[str, Any]]]:
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
        .limit(MOST)
    )
    if until is not None:
        query = query.where(entries.sequence <= until.entry)
    return [(row.sequence, dict(row._mapping)) for row in connection.execute(query)]


def _list_tries(connection: Connection, after: int, until: Position | None) -> list[tuple[int, dict[str, Any]]]:
    columns = tables.audits.c
    query = select(columns.id, columns.mechanism, columns.at, columns.kind, columns.mode, columns.reason)
    query = query.where(columns.id > after, columns.kind.in_(TRIES)).order_by(columns.id).limit(MOST)
    if until is not None:
        query = query.where(columns.id <= until.audit)
    return [(row.id, dict(row._mapping)) for row in connection.execute(query)]


def _list_alerts(connection: Connection, after: int, until: Position | None) -> list[tuple[int, dict[str, Any]]]:
    columns = tables.alerts.c
    query = select(columns.id, columns.mechanism, columns.at, columns.code, columns.level)
    query = query.where(columns.id > after).order_by(columns.id).limit(MOST)
    if until is not None:
        query = query.where(columns.id <= until.alert)
    return [(row.id, dict(row._mapping)) for row in connection.execute(query)]


def _list_moving(connection: Connection) -> list[dict[str, Any]]:
    """The newest submissions, oldest first."""
    columns = tables.submissions.c
    query = select(
        columns.id, columns.mechanism, columns.at, columns.state, columns.reason, columns.included_block
    ).order_by(columns.id.desc())
    return [dict(row._mapping) for row in connection.execute(query.limit(MOVING))][::-1]
