"""The journal: what was asked, answered and observed is durable before it is scored; each entry names the one before.

A round is written twice. `record` keeps task, answers and observation. `commit` scores it from that record alone and
adds, in one transaction, its scores, the standings after it and its entry in the hash chain. A crash in between loses
nothing: `unfinished` finds the round, and committing it gives the same bytes as it would have before.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from weighbeam.core.canonical import Json, canonical_json, digest_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.aftermath import leave_to_do
from weighbeam.engine.lay_out import (
    list_evaluations,
    read_seen,
    read_standings,
    write_evaluations,
    write_scores,
    write_seen,
    write_standings,
)
from weighbeam.engine.seen import note_round
from weighbeam.engine.standing_history import list_after, write_after
from weighbeam.mechanisms.abilities import COLLECTED
from weighbeam.mechanisms.contract import Answer, Asked, Mechanism, Observation, Params, Scored, Standing
from weighbeam.mechanisms.make_params import make_params
from weighbeam.store import tables
from weighbeam.store.blobs import keep_blobs, read_blob, read_blobs
from weighbeam.store.database import Store
from weighbeam.store.remember import look_up, note

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
    endpoints: Mapping[str, Sequence[str] | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Committed:
    """A round's place in the chain, and what it changed."""

    id: str
    sequence: int
    hash: str
    scored: Scored
    standings: tuple[Standing, ...]


class Journal:
    """Append-only record of rounds in a store; of each committed one, `sinks` are the things left to do besides."""

    def __init__(self, store: Store, sinks: tuple[str, ...] = ()) -> None:
        self.store = store
        self.sinks = sinks

    def record(
        self,
        facts: RoundFacts,
        asked: Asked,
        observation: Observation,
        also: Callable[[Connection], None] | None = None,
    ) -> None:
        """Make a round durable before it is scored: one transaction, in which `also` may write too."""
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
            if also is not None:
                also(connection)

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
            write_scores(connection, round_id, scored)
            write_evaluations(connection, list_evaluations(mechanism, row.id, row.at, scored))
            write_standings(connection, mechanism.name, after, before)
            task = json.loads(read_blob(connection, body["task"]))
            write_after(connection, list_after(mechanism, row.id, row.at, task, scored, after))
            known = read_seen(connection, mechanism.name)
            write_seen(connection, mechanism.name, note_round(known, body["departed"], row.at, scored), known)
            leave_to_do(connection, round_id, row.at, mechanism, scored, self.sinks)
            connection.execute(
                update(tables.rounds).where(tables.rounds.c.id == round_id).values(state="scored", sequence=sequence)
            )
        return Committed(round_id, sequence, digest, scored, after)

    def discard(self, round_id: str) -> None:
        """Give up an observed round that cannot be scored: it stays until retention, and counts for nothing.

        What it had collected is collected again.
        """
        chosen = (tables.rounds.c.id == round_id) & (tables.rounds.c.state == "observed")
        with self.store.write() as connection:
            row = connection.execute(select(tables.rounds).where(chosen)).one_or_none()
            connection.execute(update(tables.rounds).where(chosen).values(state="discarded"))
            if row is not None:
                _collect_again(connection, row)

    def unfinished(self) -> list[tuple[str, str]]:
        """Rounds that were observed but not scored, oldest first: (id, mechanism)."""
        query = select(tables.rounds.c.id, tables.rounds.c.mechanism).where(tables.rounds.c.state == "observed")
        order = (tables.rounds.c.at, tables.rounds.c.id)
        with self.store.read() as connection:
            return [(row.id, row.mechanism) for row in connection.execute(query.order_by(*order))]

    def known(self, mechanism: str) -> set[str]:
        """Every miner the mechanism keeps something about."""
        with self.store.read() as connection:
            seen = read_seen(connection, mechanism)
            return {standing.hotkey for standing in read_standings(connection, mechanism)} | set(seen)

    def standings(self, mechanism: str) -> tuple[Standing, ...]:
        with self.store.read() as connection:
            return read_standings(connection, mechanism)


def name_cursor(mechanism: str) -> str:
    """Under which name it is remembered how far contributions were collected."""
    return f"collected:{mechanism}"


def _collect_again(connection: Connection, row: Row[Any]) -> None:
    """Go back to where a discarded round began, unless a later one went on from its end."""
    task = json.loads(read_blob(connection, json.loads(read_blob(connection, row.body))["task"]))
    key = name_cursor(row.mechanism)
    if task["id"] == COLLECTED and look_up(connection, key) == task["body"]["until"]:
        note(connection, key, task["body"]["after"])


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


@dataclass(frozen=True, slots=True)
class KeptRound:
    """A committed round as the journal holds it."""

    params: Params
    observation: Observation
    scored: Scored
    answers: tuple[Answer, ...]


def read_round(store: Store, round_id: str, mechanism: Mechanism, texts: bool = False) -> KeptRound:
    """A round from the journal, scored again: pure, so it is what was committed; with its texts, if wanted."""
    with store.read() as connection:
        digest = connection.scalar(select(tables.rounds.c.body).where(tables.rounds.c.id == round_id))
        if digest is None:
            raise WeighbeamError("unknown_round", f"no round is called {round_id!r}", "see weighbeam rounds")
        body = json.loads(read_blob(connection, digest))
        said = _read_texts(connection, round_id, body) if texts else {}
        observation = Observation.unpack(read_blob(connection, body["observation"]), said)
        answers = json.loads(read_blob(connection, body["answers"]))
    params = make_params(mechanism, body["params"])
    return KeptRound(params, observation, mechanism.score(params, observation), tuple(map(_read_answer, answers)))


def find_mechanism(store: Store, round_id: str) -> str:
    """Whose round it is; `unknown_round` if nobody's that was scored."""
    columns = tables.rounds.c
    query = select(columns.mechanism).where(columns.id == round_id, columns.state == "scored")
    with store.read() as connection:
        name = connection.scalar(query)
    if name is None:
        raise WeighbeamError("unknown_round", f"no scored round is called {round_id!r}", "see weighbeam rounds")
    return str(name)


def _read_texts(connection: Connection, round_id: str, body: Mapping[str, Any]) -> dict[str, str]:
    """By digest, everything a round refers to that is a text; an outcome among them is harmless."""
    links = tables.round_blobs.c
    known = {body["task"], body["answers"], body["observation"]}
    digests = set(connection.scalars(select(links.digest).where(links.round == round_id))) - known
    found = read_blobs(connection, digests)
    return {digest: content.decode("utf-8", "surrogatepass") for digest, content in found.items()}


def _read_answer(row: list[Any]) -> Answer:
    hotkey, uid, status, seconds, payload, reason, proof = row
    return Answer(hotkey, payload, seconds, status, uid, reason, proof)


def append_entry(connection: Connection, kind: str, ref: str, body: str) -> tuple[int, str]:
    """The next link of the chain."""
    sequence, previous = _find_last(connection)
    digest = hash_entry(previous, kind, ref, body)
    connection.execute(
        insert(tables.entries).values(
            sequence=sequence + 1, kind=kind, ref=ref, body=body, previous=previous, hash=digest
        )
    )
    return sequence + 1, digest


def _find_last(connection: Connection) -> tuple[int, str]:
    """The end of the chain: its last entry, or the checkpoint that stands for all of them."""
    for table in (tables.entries, tables.checkpoints):
        query = select(table.c.sequence, table.c.hash).order_by(table.c.sequence.desc()).limit(1)
        found = connection.execute(query).one_or_none()
        if found is not None:
            return int(found.sequence), str(found.hash)
    return 0, GENESIS


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
        "endpoints": dict(facts.endpoints),
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
    return _write_ascii([[a.hotkey, a.uid, a.status, a.seconds, a.payload, a.reason, a.proof] for a in answers])


def _write_ascii(value: Any) -> bytes:
    """JSON that can carry whatever a miner sent, lone surrogates included."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
