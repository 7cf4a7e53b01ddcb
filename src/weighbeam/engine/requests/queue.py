"""The queue of waiting requests: highest priority first, then the oldest; a request that has waited long enough goes
first.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, insert, literal, select, tuple_, update

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.engine.outbox.queue import insert_item
from weighbeam.store import tables
from weighbeam.store.database import Store

PRIORITIES = {"low": -1, "normal": 0, "high": 1}
PATIENCE_SECONDS = 600.0
MAX_WAITING = 1000
MAX_OF_ONE = 100
COLUMNS = tables.requests.c
ENDED = ("done", "failed", "cancelled")
PROGRESS_COLUMNS = (
    COLUMNS.id,
    COLUMNS.mechanism,
    COLUMNS.state,
    COLUMNS.at,
    COLUMNS.priority,
    COLUMNS.caller,
    COLUMNS.round,
    COLUMNS.body["ranked"].as_boolean().label("ranked"),
    COLUMNS.body["wanted"].label("wanted"),
)
"""Columns for lists: question and answer may have megabytes each, and stay in the store."""


@dataclass(frozen=True, slots=True)
class RequestTerms:
    """How a question is asked: whom it must reach, whether it counts, how urgent it is, and who asks.

    The same `key` of the same caller is the same request.
    """

    wanted: tuple[str, ...] = ()
    ranked: bool = True
    priority: int = 0
    caller: str | None = None
    key: str | None = None


def insert_request(
    connection: Connection, request_id: str, mechanism: str, at: float, kept: Mapping[str, Any], terms: RequestTerms
) -> None:
    """Queue a checked request within a transaction; `queue_full` if too many wait, or too many of one."""
    query = select(COLUMNS.caller).where(COLUMNS.mechanism == mechanism, COLUMNS.state == "waiting")
    waiting = list(connection.scalars(query.limit(MAX_WAITING)))
    own = terms.caller is not None and waiting.count(terms.caller) >= MAX_OF_ONE
    if own or len(waiting) >= MAX_WAITING:
        told = f"{MAX_OF_ONE} of yours" if own else f"{MAX_WAITING} requests"
        raise WeighbeamError("queue_full", f"{told} wait already", "ask again later")
    row = {"id": request_id, "mechanism": mechanism, "at": at, "state": "waiting", "body": dict(kept)}
    connection.execute(insert(tables.requests).values(**row, priority=terms.priority, caller=terms.caller))


def order_queue(now: float) -> tuple[ColumnElement[Any], ...]:
    """Order of the queue: no request is overtaken for longer than the patience lasts."""
    patient = COLUMNS.at > now - PATIENCE_SECONDS
    return case((patient, 1), else_=0), case((patient, -COLUMNS.priority), else_=literal(0)), COLUMNS.at, COLUMNS.id


def number_queue(connection: Connection, mechanism: str, now: float) -> dict[str, int]:
    """Places of waiting requests; the next one has 1."""
    query = select(COLUMNS.id).where(COLUMNS.mechanism == mechanism, COLUMNS.state == "waiting")
    return {name: place for place, name in enumerate(connection.scalars(query.order_by(*order_queue(now))), 1)}


def cancel_request(store: Store, request_id: str) -> None:
    """Remove a request from the queue and its text from the store; `not_waiting` once a round has it."""
    with store.write() as connection:
        row = connection.execute(select(tables.requests).where(COLUMNS.id == request_id)).one_or_none()
        state = None if row is None else row.state
        require(state == "waiting", "not_waiting", f"it is {state or 'unknown'} and no longer waiting", "nothing to do")
        assert row is not None
        gone = {"state": "cancelled", "body": {**row.body, "body": {}}}
        connection.execute(update(tables.requests).where(COLUMNS.id == request_id).values(**gone))
        if row.body.get("challenge") is not None:
            insert_item(connection, "callback", request_id, row.mechanism, row.at, {})


def list_requests(store: Store, caller: str | None, limit: int, before: str | None = None) -> list[Any]:
    """Rows, newest first, of one caller or of all; `before` is the id of the last one seen."""
    query = select(*PROGRESS_COLUMNS).order_by(COLUMNS.at.desc(), COLUMNS.id.desc()).limit(limit)
    if caller is not None:
        query = query.where(COLUMNS.caller == caller)
    with store.read() as connection:
        if before is not None:
            last = connection.execute(select(COLUMNS.at, COLUMNS.caller).where(COLUMNS.id == before)).one_or_none()
            known = last is not None and caller in (None, last.caller)
            require(known, "bad_query", "`before` names no request of yours", "give the next of the page before")
            assert last is not None
            query = query.where(tuple_(COLUMNS.at, COLUMNS.id) < tuple_(last.at, before))
        return list(connection.execute(query))
