"""The journal: what was asked, answered and observed is durable before it is scored; each entry names the one before.

A round is written twice. `record` keeps task, answers and observation. `commit` scores it from that record alone and
adds, in one transaction, its scores, the standings after it and its entry in the hash chain. A crash in between loses
nothing: `unfinished` finds the round, and committing it gives the same bytes as it would have before.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from weighbeam.core.canonical import canonical_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.aftermath import leave_to_do
from weighbeam.engine.hash_chain import append_entry
from weighbeam.engine.lay_out import (
    list_evaluations,
    read_seen,
    read_standings,
    write_evaluations,
    write_scores,
    write_seen,
    write_standings,
)
from weighbeam.engine.round_bytes import RoundFacts, write_answers, write_body, write_outcome, write_task
from weighbeam.engine.seen import note_round
from weighbeam.engine.standing_history import list_after, write_after
from weighbeam.mechanisms.abilities import COLLECTED
from weighbeam.mechanisms.contract import Asked, Mechanism, Observation, Params, Scored, Standing
from weighbeam.mechanisms.make_params import make_params
from weighbeam.store import tables
from weighbeam.store.blobs import keep_blobs, read_blob
from weighbeam.store.database import Store
from weighbeam.store.remember import look_up, note


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
