"""Replies that miners signed: whether an answer in the journal is what its miner signed, and where it stands."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, select

from weighbeam.engine.journal.head import select_head
from weighbeam.engine.journal.recall import parse_answers
from weighbeam.mechanism.records import Answer
from weighbeam.network.replies import find_body_fault, verify_proof
from weighbeam.store import tables
from weighbeam.store.blobs import select_blob


@dataclass(frozen=True, slots=True)
class RecordedReply:
    """One answer of a miner: its score in the journal, and whether the miner signed it.

    `is_signed` is None if it cannot be checked: no signature was kept, or the asker is unknown.
    """

    round: str
    mechanism: str
    at: float
    sequence: int
    entry: str
    status: str
    value: float | None
    reasons: tuple[str, ...]
    body_sha256: str | None
    is_signed: bool | None
    fault: str | None


def find_reply_fault(answer: Answer, round_id: str, asker: str) -> str | None:
    """Why a signed answer is not what its miner signed; None if it is."""
    if answer.proof is None:
        return None
    if not verify_proof(answer.proof, answer.hotkey, asker):
        return f"{answer.hotkey} did not sign it as an answer to {asker}"
    return find_body_fault(answer.proof, round_id, answer.payload)


def list_replies(connection: Connection, hotkey: str, round_id: str | None, limit: int) -> Iterator[RecordedReply]:
    """The answers of a miner in committed rounds, newest first."""
    head = select_head(connection)
    asker = head.hotkey if head is not None and head.is_signed else None
    rounds, scores, entries = tables.rounds.c, tables.scores.c, tables.entries.c
    query = (
        select(tables.rounds, scores.status, scores.value, scores.reasons, entries.hash.label("entry"))
        .join(tables.scores, scores.round == rounds.id)
        .join(tables.entries, entries.sequence == rounds.sequence)
        .where(scores.hotkey == hotkey, rounds.state == "scored")
        .order_by(rounds.sequence.desc())
        .limit(limit)
    )
    if round_id is not None:
        query = query.where(rounds.id == round_id)
    for row in connection.execute(query):
        content = select_blob(connection, json.loads(select_blob(connection, row.body))["answers"])
        answer = next((one for one in parse_answers(content) if one.hotkey == hotkey), None)
        proof = None if answer is None else answer.proof
        fault = None if answer is None or asker is None else find_reply_fault(answer, row.id, asker)
        known = None if proof is None or asker is None else fault is None
        digest = None if proof is None else proof.get("body")
        named = (row.id, row.mechanism, row.at, row.sequence, row.entry, row.status, row.value, tuple(row.reasons))
        yield RecordedReply(*named, digest, known, fault)
