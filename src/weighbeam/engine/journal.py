"""The journal: what was asked, answered and observed is durable before it is scored; each entry names the one before.

A round is written twice. `record` keeps task, answers and observation. `commit` scores it from that record alone and
adds, in one transaction, its scores, the standings after it and its entry in the hash chain. A crash in between loses
nothing: `unfinished` finds the round, and committing it gives the same bytes as it would have before.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from weighbeam.core.canonical import Json, canonical_json, digest_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.contract import (
    Answer,
    Asked,
    Mechanism,
    Observation,
    Params,
    Scored,
    Standing,
    make_params,
)
from weighbeam.store import tables
from weighbeam.store.blobs import keep_blobs, read_blob
from weighbeam.store.database import Store

GENESIS = "0" * 64


@dataclass(frozen=True, slots=True)
class RoundFacts:
    """What identifies a round and everything it was run under."""

    id: str
    mechanism: str
    params: Mapping[str, Any]
    params_hash: str
    seed: str | int
    block: int
    at: float
    departed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Committed:
    """A round's place in the chain, and what it changed."""

    sequence: int
    hash: str
    scored: Scored
    standings: tuple[Standing, ...]


class Journal:
    """Append-only record of rounds in a store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def record(self, facts: RoundFacts, asked: Asked, observation: Observation) -> None:
        """Make a round durable before it is scored: one transaction."""
        packed = observation.pack()
        texts = [text.encode("utf-8", "surrogatepass") for text in observation.texts.values()]
        with self.store.write() as connection:
            task, answers, seen = keep_blobs(connection, [write_task(asked), write_answers(asked.answers), packed])
            kept = keep_blobs(connection, texts)
            body = canonical_json(write_body(facts, task, answers, seen))
            (digest,) = keep_blobs(connection, [body])
            connection.execute(
                insert(tables.rounds).values(
                    id=facts.id,
                    mechanism=facts.mechanism,
                    state="observed",
                    at=facts.at,
                    block=facts.block,
                    body=digest,
                )
            )
            links = [{"round": facts.id, "digest": one} for one in {task, answers, seen, digest, *kept}]
            connection.execute(insert(tables.round_blobs), links)

    def commit(self, round_id: str, mechanism: Mechanism) -> Committed:
        """Score a recorded round and append it to the chain: one transaction, once."""
        with self.store.write() as connection:
            row = connection.execute(select(tables.rounds).where(tables.rounds.c.id == round_id)).one_or_none()
            if row is None or row.state != "observed":
                raise WeighbeamError("not_open", f"round {round_id} is not waiting to be scored", "nothing to do")
            body = json.loads(read_blob(connection, row.body))
            observation = Observation.unpack(read_blob(connection, body["observation"]))
            params = make_params(mechanism, body["params"])
            before = read_standings(connection, mechanism.name)
            scored, after = apply_body(mechanism, params, body, observation, before)
            written = write_outcome(row.body, scored, after)
            (outcome,) = keep_blobs(connection, [written])
            connection.execute(insert(tables.round_blobs).values(round=round_id, digest=outcome))
            sequence, digest = append_entry(connection, "round", round_id, outcome)
            _write_scores(connection, round_id, scored)
            _write_evaluations(connection, row, scored)
            write_standings(connection, mechanism.name, after)
            connection.execute(
                update(tables.rounds).where(tables.rounds.c.id == round_id).values(state="scored", sequence=sequence)
            )
        return Committed(sequence, digest, scored, after)

    def unfinished(self) -> list[tuple[str, str]]:
        """Rounds that were observed but not scored, oldest first: (id, mechanism)."""
        query = select(tables.rounds.c.id, tables.rounds.c.mechanism).where(tables.rounds.c.state == "observed")
        with self.store.read() as connection:
            return [(row.id, row.mechanism) for row in connection.execute(query.order_by(tables.rounds.c.at))]

    def standings(self, mechanism: str) -> tuple[Standing, ...]:
        with self.store.read() as connection:
            return read_standings(connection, mechanism)


def apply_body(
    mechanism: Mechanism,
    params: Params,
    body: Mapping[str, Any],
    observation: Observation,
    before: Sequence[Standing],
) -> tuple[Scored, tuple[Standing, ...]]:
    """Scores and standings that follow from a recorded round: pure, the same live and in replay."""
    departed = set(body["departed"])
    staying = tuple(standing for standing in before if standing.hotkey not in departed)
    scored = mechanism.score(params, observation)
    return scored, mechanism.stand(params, staying, scored)


def append_entry(connection: Connection, kind: str, ref: str, body: str) -> tuple[int, str]:
    """The next link of the chain."""
    last = connection.execute(
        select(tables.entries.c.hash).order_by(tables.entries.c.sequence.desc()).limit(1)
    ).scalar_one_or_none()
    previous = last or GENESIS
    digest = hash_entry(previous, kind, ref, body)
    result = connection.execute(
        insert(tables.entries).values(kind=kind, ref=ref, body=body, previous=previous, hash=digest)
    )
    primary = result.inserted_primary_key
    assert primary is not None
    return int(primary[0]), digest


def hash_entry(previous: str, kind: str, ref: str, body: str) -> str:
    return digest_json([previous, kind, ref, body])


def write_body(facts: RoundFacts, task: str, answers: str, observation: str) -> Json:
    return {
        "id": facts.id,
        "mechanism": facts.mechanism,
        "params": dict(facts.params),
        "params_hash": facts.params_hash,
        "seed": facts.seed,
        "block": facts.block,
        "at": facts.at,
        "departed": list(facts.departed),
        "task": task,
        "answers": answers,
        "observation": observation,
    }


def write_outcome(body: str, scored: Scored, standings: Sequence[Standing]) -> bytes:
    """What a round led to, as bytes that a replay must reach again."""
    rows: list[Json] = [[s.hotkey, s.value, dict(s.detail)] for s in standings]
    return canonical_json({"body": body, "scored": scored.as_json(), "standings": rows})


def write_task(asked: Asked) -> bytes:
    """The task and its group; a miner's bytes are not in it."""
    group = asked.group
    return _write_ascii(
        {
            "id": asked.task.id,
            "kind": asked.task.kind,
            "body": asked.task.body,
            "wanted": asked.task.wanted,
            "ranked": asked.task.ranked,
            "members": group.members,
            "extra": group.extra,
        }
    )


def write_answers(answers: Sequence[Answer]) -> bytes:
    return _write_ascii([[a.hotkey, a.uid, a.status, a.seconds, a.payload] for a in answers])


def _write_ascii(value: Any) -> bytes:
    """JSON that can carry whatever a miner sent, lone surrogates included."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def read_standings(connection: Connection, mechanism: str) -> tuple[Standing, ...]:
    query = select(tables.standings).where(tables.standings.c.mechanism == mechanism)
    rows = connection.execute(query.order_by(tables.standings.c.place))
    return tuple(Standing(row.hotkey, row.value, row.detail) for row in rows)


def write_standings(connection: Connection, mechanism: str, standings: Sequence[Standing]) -> None:
    connection.execute(delete(tables.standings).where(tables.standings.c.mechanism == mechanism))
    rows = [
        {"mechanism": mechanism, "hotkey": s.hotkey, "place": place, "value": s.value, "detail": dict(s.detail)}
        for place, s in enumerate(standings)
    ]
    if rows:
        connection.execute(insert(tables.standings), rows)


def _write_scores(connection: Connection, round_id: str, scored: Scored) -> None:
    rows = [
        {"round": round_id, "hotkey": s.hotkey, "status": s.status, "value": s.value, "reasons": list(s.reasons)}
        for s in scored.scores
    ]
    if rows:
        connection.execute(insert(tables.scores), rows)


def _write_evaluations(connection: Connection, row: Any, scored: Scored) -> None:
    """One row per miner asked and judged; unscored answers are no evaluation."""
    emissions = scored.summary.get("emissions", {})
    rows = [
        {
            "mechanism": row.mechanism,
            "hotkey": score.hotkey,
            "round": row.id,
            "at": row.at,
            "emission": emissions.get(score.hotkey),
            "success": score.status == "valid",
        }
        for score in scored.scores
        if score.status != "unscored"
    ]
    if rows:
        connection.execute(insert(tables.evaluations), rows)
