"""Organic requests: questions of real users, kept in the store until a round has answered them.

waiting → taken (its round is named) → done | failed, or cancelled while it waits. A crash leaves a request taken; at
the next start it is answered from its round if that was recorded, and waits again if not.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select, update

from weighbeam.core.canonical import digest_text
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts import tell_fault
from weighbeam.engine.journal import Journal, read_round
from weighbeam.engine.line_up import Terms, order_line, queue
from weighbeam.engine.outbox import post
from weighbeam.mechanisms.contract import Mechanism, Params, Task
from weighbeam.store import tables
from weighbeam.store.database import Store

COLUMNS = tables.requests.c
MOST_TRIES = 3


@dataclass(frozen=True, slots=True)
class Request:
    id: str
    mechanism: str
    state: str
    result: Mapping[str, Any] | None
    task: Task


def enqueue(
    store: Store,
    mechanism: Mechanism,
    params: Params,
    body: Mapping[str, Any],
    at: float,
    terms: Terms | None = None,
) -> str:
    """Put a question in the line; gives its id. What cannot be asked is refused now, as is a line that is full.

    A key used before gives the id it gave then; for another question it is `key_conflict`.
    """
    terms = terms or Terms()
    request_id = f"organic-{_name(terms)}"
    mechanism.pose(params, Task(request_id, body, "organic"))
    kept: dict[str, Any] = {"body": dict(body), "wanted": list(terms.wanted), "ranked": terms.ranked}
    if terms.key is not None:
        kept["digest"] = digest_text(json.dumps([mechanism.name, kept, terms.priority], sort_keys=True))
    with store.write() as connection:
        row = connection.execute(select(COLUMNS.body).where(COLUMNS.id == request_id)).one_or_none()
        if row is None:
            queue(connection, request_id, mechanism.name, at, kept, terms)
        elif row.body.get("digest") != kept["digest"]:
            told = "this key was given with another question"
            raise WeighbeamError("key_conflict", told, "use a key of its own for each")
    return request_id


def _name(terms: Terms) -> str:
    """Everybody has keys of their own."""
    if terms.key is None:
        return secrets.token_hex(12)
    return digest_text(f"{terms.caller} {terms.key}")[:40]


def find_request(store: Store, request_id: str) -> Request:
    with store.read() as connection:
        row = connection.execute(select(tables.requests).where(COLUMNS.id == request_id)).one_or_none()
    if row is None:
        raise WeighbeamError("unknown_request", f"no request is called {request_id!r}", "check the id")
    return _read(row)


def take_next(store: Store, mechanism: str, round_id: str, now: float) -> Request | None:
    """The first of the line, now bound to a round."""
    with store.write() as connection:
        query = select(tables.requests).where(COLUMNS.mechanism == mechanism, COLUMNS.state == "waiting")
        row = connection.execute(query.order_by(*order_line(now)).limit(1)).one_or_none()
        if row is None:
            return None
        connection.execute(update(tables.requests).where(COLUMNS.id == row.id).values(state="taken", round=round_id))
        return _read(row)


def has_waiting(store: Store, mechanism: str) -> bool:
    query = select(COLUMNS.id).where(COLUMNS.mechanism == mechanism, COLUMNS.state == "waiting").limit(1)
    with store.read() as connection:
        return connection.execute(query).first() is not None


def count_waiting(store: Store) -> dict[str, int]:
    """By mechanism, how many wait."""
    query = select(COLUMNS.mechanism, func.count()).where(COLUMNS.state == "waiting").group_by(COLUMNS.mechanism)
    with store.read() as connection:
        return {mechanism: int(count) for mechanism, count in connection.execute(query)}


def answer_request(journal: Journal, request_id: str, round_id: str, mechanism: Mechanism) -> None:
    """Give the best valid answer of a committed round; a round without one fails the request, and says so."""
    kept = read_round(journal.store, round_id, mechanism)
    best = mechanism.best(kept.params, kept.observation, kept.scored)
    if best is None:
        fail_request(journal.store, request_id, "no_valid_answer", "no miner gave a valid answer; ask again")
        return
    report = mechanism.report(kept.params, kept.observation, kept.scored)
    answer = next(answer for answer in kept.answers if answer.hotkey == best)
    scored: Mapping[str, Any] = next((row for row in report["answers"] if row["hotkey"] == best), {})
    result = {
        "round": round_id,
        "hotkey": best,
        "payload": answer.payload,
        "seconds": answer.seconds,
        "proof": answer.proof,
        "score": dict(scored),
        "low_confidence": bool(report.get("low_confidence", False)),
    }
    _finish(journal.store, request_id, "done", result)


def fail_request(store: Store, request_id: str, code: str, message: str) -> None:
    _finish(store, request_id, "failed", {"error": code, "message": message})


def recover_requests(journal: Journal, mechanism: Mechanism) -> list[str]:
    """Answer or put back what a crash left taken."""
    with journal.store.read() as connection:
        query = select(COLUMNS.id, COLUMNS.round, COLUMNS.body, tables.rounds.c.state.label("outcome"))
        joined = query.select_from(tables.requests.outerjoin(tables.rounds, COLUMNS.round == tables.rounds.c.id))
        rows = connection.execute(joined.where(COLUMNS.mechanism == mechanism.name, COLUMNS.state == "taken")).all()
    for row in rows:
        try:
            _recover(journal, row, mechanism)
        except Exception as fault:
            if isinstance(fault, WeighbeamError) and fault.code == "store_fault":
                raise
            tell_fault(fault, row.id)
            fail_request(journal.store, row.id, "not_answered", f"{type(fault).__name__} while answering it")
    return [row.id for row in rows]


def _recover(journal: Journal, row: Any, mechanism: Mechanism) -> None:
    if row.outcome == "scored":
        answer_request(journal, row.id, row.round, mechanism)
        return
    tries = row.body.get("tries", 0) + 1
    if tries >= MOST_TRIES:
        fail_request(journal.store, row.id, "not_answered", f"its round did not end {tries} times")
        return
    again = {"state": "waiting", "round": None, "body": {**row.body, "tries": tries}}
    with journal.store.write() as connection:
        connection.execute(update(tables.requests).where(COLUMNS.id == row.id).values(**again))


def _finish(store: Store, request_id: str, state: str, result: Mapping[str, Any]) -> None:
    """A challenge's result goes back from the outbox."""
    with store.write() as connection:
        connection.execute(
            update(tables.requests).where(COLUMNS.id == request_id).values(state=state, result=dict(result))
        )
        row = connection.execute(select(tables.requests).where(COLUMNS.id == request_id)).one_or_none()
        if row is not None and row.body.get("challenge") is not None:
            post(connection, "callback", request_id, row.mechanism, row.at, {})


def _read(row: Any) -> Request:
    kept = row.body
    task = Task(row.id, kept["body"], "organic", tuple(kept["wanted"]), kept["ranked"])
    return Request(row.id, row.mechanism, row.state, row.result, task)
