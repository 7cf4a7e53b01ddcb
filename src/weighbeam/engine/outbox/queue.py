"""The queue of jobs to do after something became durable: alerts to raise, pictures to draw, results to send."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from weighbeam.store import tables
from weighbeam.store.database import Store

FIRST_WAIT_SECONDS = 5.0
MAX_WAIT_SECONDS = 3600.0
MAX_TRIES = 57
"""Tries 5, 10, 20 … seconds apart, then an hour: two days, independent of the clock."""
MAX_AT_ONCE = 20
MAX_FAULT = 500
COLUMNS = tables.outbox.c


@dataclass(frozen=True, slots=True)
class OutboxItem:
    """One thing to do; `ref` is its name among those of its kind."""

    id: int
    kind: str
    ref: str
    mechanism: str
    at: float
    body: Mapping[str, Any]
    tries: int


def insert_item(
    connection: Connection, kind: str, ref: str, mechanism: str, at: float, body: Mapping[str, Any]
) -> None:
    """Put an item in, once: the same kind and ref again change nothing."""
    known = select(COLUMNS.id).where(COLUMNS.kind == kind, COLUMNS.ref == ref)
    if connection.execute(known).first() is not None:
        return
    row = {"kind": kind, "ref": ref, "mechanism": mechanism, "at": at, "body": dict(body)}
    connection.execute(insert(tables.outbox).values(**row, state="waiting", due=at, tries=0))


def list_due(store: Store, now: float, kinds: Collection[str], others: bool = False) -> list[OutboxItem]:
    """Due items of these kinds, or of all others, oldest first.

    A time far in the future was written before the clock jumped back, and counts as due.
    """
    is_due = (now >= COLUMNS.due) | (now + MAX_WAIT_SECONDS < COLUMNS.due)
    of_kind = COLUMNS.kind.not_in(kinds) if others else COLUMNS.kind.in_(kinds)
    query = select(tables.outbox).where(COLUMNS.state == "waiting", of_kind, is_due)
    with store.read() as connection:
        rows = connection.execute(query.order_by(COLUMNS.due, COLUMNS.id).limit(MAX_AT_ONCE)).all()
    return [_parse_item(row) for row in rows]


def list_in_order(store: Store, now: float, kind: str, eager: bool) -> list[OutboxItem]:
    """Waiting items of an ordered kind, oldest first; none if the oldest is not due (unless eager)."""
    query = select(tables.outbox).where(COLUMNS.state == "waiting", COLUMNS.kind == kind)
    with store.read() as connection:
        rows = connection.execute(query.order_by(COLUMNS.id).limit(MAX_AT_ONCE)).all()
    due = [now >= row.due or now + MAX_WAIT_SECONDS < row.due for row in rows]
    return [_parse_item(row) for row in rows] if any(due if eager else due[:1]) else []


def count_waiting(store: Store) -> dict[str, int]:
    """Count waiting items by kind."""
    query = select(COLUMNS.kind, func.count()).where(COLUMNS.state == "waiting").group_by(COLUMNS.kind)
    with store.read() as connection:
        return {kind: int(count) for kind, count in connection.execute(query)}


def finish_item(store: Store, item: OutboxItem) -> None:
    _set(store, item, state="done", fault=None)


def postpone(store: Store, item: OutboxItem, now: float, fault: str) -> bool:
    """Try again later; False if it has been tried long enough and is given up."""
    ended = item.tries + 1 >= MAX_TRIES
    state = "given_up" if ended else "waiting"
    _set(store, item, state=state, due=now + _wait_after(item), tries=item.tries + 1, fault=fault[:MAX_FAULT])
    return not ended


def hold_back(store: Store, items: Sequence[OutboxItem], first: OutboxItem, now: float) -> None:
    """Delay items behind a failed one; they do not count as tried."""
    held = [item.id for item in items]
    with store.write() as connection:
        connection.execute(update(tables.outbox).where(COLUMNS.id.in_(held)).values(due=now + _wait_after(first)))


def give_up(store: Store, item: OutboxItem, fault: str) -> None:
    """Give up an item for good."""
    _set(store, item, state="given_up", tries=item.tries + 1, fault=fault[:MAX_FAULT])


def _wait_after(item: OutboxItem) -> float:
    return min(MAX_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0 ** min(item.tries, 20))


def _set(store: Store, item: OutboxItem, **values: Any) -> None:
    with store.write() as connection:
        connection.execute(update(tables.outbox).where(COLUMNS.id == item.id).values(**values))


def _parse_item(row: Any) -> OutboxItem:
    return OutboxItem(row.id, row.kind, row.ref, row.mechanism, row.at, row.body, row.tries)
