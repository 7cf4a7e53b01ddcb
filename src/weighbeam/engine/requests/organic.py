"""Organic requests: questions of real users, kept in the store until a round has answered them."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, func, select, update

from weighbeam.core.canonical import digest_text
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.recall import RecordedRound, select_round
from weighbeam.engine.outbox.queue import insert_item
from weighbeam.engine.requests.queue import RequestTerms, insert_request, order_queue
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.mechanism.records import Task
from weighbeam.store import tables
from weighbeam.store.database import Store

COLUMNS = tables.requests.c


@dataclass(frozen=True, slots=True)
class OrganicRequest:
    id: str
    mechanism: str
    state: str
    result: Mapping[str, Any] | None
    task: Task


def enqueue_request(
    store: Store,
    mechanism: Mechanism,
    params: Params,
    body: Mapping[str, Any],
    at: float,
    terms: RequestTerms | None = None,
) -> str:
    """Queue a question and return its id. Invalid questions and a full queue are refused.

    A key used before gives the id it gave then; for another question it is `key_conflict`.
    """
    terms = terms or RequestTerms()
    request_id = f"organic-{_name(terms)}"
    mechanism.pose(params, Task(request_id, body, "organic"))
    kept: dict[str, Any] = {"body": dict(body), "wanted": list(terms.wanted), "ranked": terms.ranked}
    if terms.key is not None:
        kept["digest"] = digest_text(json.dumps([mechanism.name, kept, terms.priority], sort_keys=True))
    with store.write() as connection:
        row = connection.execute(select(COLUMNS.body).where(COLUMNS.id == request_id)).one_or_none()
        if row is None:
            insert_request(connection, request_id, mechanism.name, at, kept, terms)
        elif row.body.get("digest") != kept["digest"]:
            told = "this key was used with another question"
            raise WeighbeamError("key_conflict", told, "use a different key for each question")
    return request_id


def _name(terms: RequestTerms) -> str:
    """Name a key together with its caller."""
    if terms.key is None:
        return secrets.token_hex(12)
    return digest_text(f"{terms.caller} {terms.key}")[:40]


def select_request(store: Store, request_id: str) -> OrganicRequest:
    with store.read() as connection:
        row = connection.execute(select(tables.requests).where(COLUMNS.id == request_id)).one_or_none()
    if row is None:
        raise WeighbeamError("unknown_request", f"no request is called {request_id!r}", "check the id")
    return _parse_request(row)


def take_next(store: Store, mechanism: str, round_id: str, now: float, by: str | None = None) -> OrganicRequest | None:
    """Bind the first request of the queue to a round, which an observer plays if one is named."""
    with store.write() as connection:
        query = select(tables.requests).where(COLUMNS.mechanism == mechanism, COLUMNS.state == "waiting")
        row = connection.execute(query.order_by(*order_queue(now)).limit(1)).one_or_none()
        if row is None:
            return None
        taken = {"state": "taken", "round": round_id, "body": {**row.body, "by": by} if by else row.body}
        connection.execute(update(tables.requests).where(COLUMNS.id == row.id).values(**taken))
        return _parse_request(row)


def require_bound(connection: Connection, request_id: str, round_id: str) -> None:
    """Whether a request still belongs to this round; an abandoned one may belong to another by now."""
    if connection.execute(_query_bound(request_id, round_id)).first() is None:
        told = f"{request_id} was requeued while {round_id} was played"
        raise WeighbeamError("request_lost", told, "nothing to do: another round answers it")


def requeue_request(store: Store, request_id: str, round_id: str, tries: int) -> None:
    """Requeue a request after a failed round, unless it belongs to another round now."""
    _put_back(store, request_id, round_id, {"tries": tries})


def release_request(store: Store, request_id: str, round_id: str) -> None:
    """Requeue a request whose round did not fail."""
    _put_back(store, request_id, round_id, {})


def _put_back(store: Store, request_id: str, round_id: str, also: Mapping[str, Any]) -> None:
    """Requeue a request unless its round was recorded: then that answers it, and it counts once."""
    with store.write() as connection:
        row = connection.execute(_query_bound(request_id, round_id)).one_or_none()
        outcome = connection.scalar(select(tables.rounds.c.state).where(tables.rounds.c.id == round_id))
        if row is None or outcome in ("observed", "scored"):
            return
        body = {name: value for name, value in row.body.items() if name != "by"} | dict(also)
        again = {"state": "waiting", "round": None, "body": body}
        connection.execute(update(tables.requests).where(COLUMNS.id == request_id).values(**again))


def _query_bound(request_id: str, round_id: str) -> Select[Any]:
    query = select(tables.requests)
    return query.where(COLUMNS.id == request_id, COLUMNS.round == round_id, COLUMNS.state == "taken")


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
    result = format_result(mechanism, select_round(journal.store, round_id, mechanism), round_id)
    if result is None:
        fail_request(journal.store, request_id, round_id, "no_valid_answer", "no miner gave a valid answer; ask again")
    else:
        _finish(journal.store, request_id, round_id, "done", result)


def format_result(mechanism: Mechanism, kept: RecordedRound, round_id: str) -> dict[str, Any] | None:
    """Result of a request; None if no answer of its round is valid."""
    best = mechanism.best(kept.params, kept.observation, kept.scored)
    if best is None:
        return None
    report = mechanism.report(kept.params, kept.observation, kept.scored)
    answer = next(answer for answer in kept.answers if answer.hotkey == best)
    scored: Mapping[str, Any] = next((row for row in report["answers"] if row["hotkey"] == best), {})
    return {
        "round": round_id,
        "hotkey": best,
        "payload": answer.payload,
        "seconds": answer.seconds,
        "proof": answer.proof,
        "score": dict(scored),
        "low_confidence": bool(report.get("low_confidence", False)),
    }


def fail_request(store: Store, request_id: str, round_id: str, code: str, message: str) -> None:
    _finish(store, request_id, round_id, "failed", {"error": code, "message": message})


def _finish(store: Store, request_id: str, round_id: str, state: str, result: Mapping[str, Any]) -> None:
    """Finish a request once, only by its own round. The outbox sends a challenge's result."""
    with store.write() as connection:
        row = connection.execute(_query_bound(request_id, round_id)).one_or_none()
        if row is None:
            return
        ended = {"state": state, "result": dict(result)}
        connection.execute(update(tables.requests).where(COLUMNS.id == request_id).values(**ended))
        if row.body.get("challenge") is not None:
            insert_item(connection, "callback", request_id, row.mechanism, row.at, {})


def _parse_request(row: Any) -> OrganicRequest:
    kept = row.body
    task = Task(row.id, kept["body"], "organic", tuple(kept["wanted"]), kept["ranked"])
    return OrganicRequest(row.id, row.mechanism, row.state, row.result, task)
