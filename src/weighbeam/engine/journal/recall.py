"""Recall a committed round from the journal: as it was recorded, what it led to, or scored again."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.encoding import MAX_TEXTS_BYTES, parse_texts
from weighbeam.engine.scoring import ScoreResult
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params, recall_params
from weighbeam.mechanism.records import Answer, Observation, Scored
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.store import tables
from weighbeam.store.blobs import has_blob, select_blob, select_blobs
from weighbeam.store.database import Store


@dataclass(frozen=True, slots=True)
class RecordedRound:
    """A committed round as the journal holds it."""

    params: Params
    observation: Observation
    scored: Scored
    answers: tuple[Answer, ...]


def select_round(store: Store, round_id: str, mechanism: Mechanism, texts: bool = False) -> RecordedRound:
    """A round from the journal, scored again: pure, so it is what was committed; with its texts, if wanted."""
    with store.read() as connection:
        return load_round(connection, round_id, mechanism, texts)


def load_round(connection: Connection, round_id: str, mechanism: Mechanism, texts: bool = False) -> RecordedRound:
    """The same within a transaction."""
    digest = connection.scalar(select(tables.rounds.c.body).where(tables.rounds.c.id == round_id))
    if digest is None:
        raise WeighbeamError("unknown_round", f"no round is called {round_id!r}", "see weighbeam journal rounds")
    body = json.loads(select_blob(connection, digest))
    said = _select_texts(connection, round_id, body) if texts else {}
    observation = Observation.unpack(select_blob(connection, body["observation"]), said)
    answers = parse_answers(select_blob(connection, body["answers"]))
    params = recall_params(mechanism, body["params"])
    return RecordedRound(params, observation, mechanism.score(params, observation), answers)


def select_mechanism(store: Store, round_id: str) -> str:
    """Return the mechanism of a scored round, or raise `unknown_round`."""
    columns = tables.rounds.c
    query = select(columns.mechanism).where(columns.id == round_id, columns.state == "scored")
    with store.read() as connection:
        name = connection.scalar(query)
    if name is None:
        raise WeighbeamError("unknown_round", f"no scored round is called {round_id!r}", "see weighbeam journal rounds")
    return str(name)


def _select_texts(connection: Connection, round_id: str, body: Mapping[str, Any]) -> dict[str, str]:
    """By digest, the texts of a round that are still kept.

    Rounds of before kept each by itself: everything they refer to is taken, and an outcome among it is harmless.
    """
    if "texts" in body:
        return select_texts(connection, body["texts"])
    links = tables.round_blobs.c
    known = {body["task"], body["answers"], body["observation"]}
    digests = set(connection.scalars(select(links.digest).where(links.round == round_id))) - known
    found = select_blobs(connection, digests)
    return {digest: content.decode("utf-8", "surrogatepass") for digest, content in found.items()}


def select_texts(connection: Connection, digest: str) -> dict[str, str]:
    """By digest, the texts that one content holds; none if it was removed."""
    if not has_blob(connection, digest):
        return {}
    return parse_texts(select_blob(connection, digest, MAX_TEXTS_BYTES))


def parse_answers(content: bytes) -> tuple[Answer, ...]:
    return tuple(
        Answer(hotkey, payload, seconds, status, uid, reason, proof)
        for hotkey, uid, status, seconds, payload, reason, proof in json.loads(content)
    )


@dataclass(frozen=True, slots=True)
class CommittedOutcome:
    """By hotkey: the round's scores, the standings after it, the uids of those asked."""

    round: str
    mechanism: str
    params_hash: str
    sequence: int
    at: float
    block: int
    scores: Mapping[str, float | None]
    statuses: Mapping[str, str]
    standings: Mapping[str, float | None]
    uids: Mapping[str, int | None]


def select_outcome(store: Store, round_id: str) -> CommittedOutcome:
    """`unknown_round` if the journal does not hold it, or not any more."""
    entries = tables.entries.c
    query = select(entries.sequence, entries.body).where(entries.kind == "round", entries.ref == round_id)
    with store.read() as connection:
        entry = connection.execute(query).one_or_none()
        if entry is None:
            raise WeighbeamError(
                "unknown_round", f"no scored round is called {round_id!r}", "see weighbeam journal rounds"
            )
        outcome = json.loads(select_blob(connection, entry.body))
        body = json.loads(select_blob(connection, outcome["body"]))
        answers = json.loads(select_blob(connection, body["answers"]))
    rows: list[Any] = outcome["scored"]["scores"]
    return CommittedOutcome(
        round=round_id,
        mechanism=body["mechanism"],
        params_hash=body["params_hash"],
        sequence=int(entry.sequence),
        at=float(body["at"]),
        block=int(body["block"]),
        scores={row["hotkey"]: row["value"] for row in rows},
        statuses={row["hotkey"]: row["status"] for row in rows},
        standings={hotkey: value for hotkey, value, _ in outcome["standings"]},
        uids={hotkey: uid for hotkey, uid, *_ in answers},
    )


def recall_round(store: Store, round_id: str) -> ScoreResult:
    """A committed round of a journal, scored again from what was recorded, with the texts still kept."""
    mechanism = load_mechanism(select_mechanism(store, round_id))
    kept = select_round(store, round_id, mechanism, texts=True)
    return ScoreResult(mechanism, kept.params, kept.observation, kept.scored, kept.answers)
