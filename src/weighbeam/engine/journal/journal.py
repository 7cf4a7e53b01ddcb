"""The journal: what was asked, answered and observed is durable before it is scored, and each entry names the hash of
the one before.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from weighbeam.core.canonical import Json, canonical_json
from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.planes import find_runs
from weighbeam.engine.journal.checkpoint import select_checkpoint
from weighbeam.engine.journal.encoding import (
    RoundFacts,
    encode_answers,
    encode_outcome,
    encode_task,
    encode_texts,
    format_body,
)
from weighbeam.engine.journal.hash_chain import append_entry
from weighbeam.engine.journal.head import REMEDY
from weighbeam.engine.journal.projections import (
    insert_evaluations,
    insert_scores,
    insert_standing_history,
    list_evaluations,
    list_standing_history,
    select_last_seen,
    select_standings,
    update_last_seen,
    update_standings,
)
from weighbeam.engine.journal.state import apply_round
from weighbeam.engine.outbox.enqueue import enqueue_round_jobs, find_fault
from weighbeam.engine.rules.last_seen import note_round
from weighbeam.engine.support.spans import trace
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import recall_params
from weighbeam.mechanism.records import COLLECTED, Asked, Observation, Scored, Standing
from weighbeam.store import tables
from weighbeam.store.blobs import insert_beside, insert_blobs, insert_planes, select_blob
from weighbeam.store.database import Store
from weighbeam.store.memory import look_up, note
from weighbeam.store.seals import BROKEN, CURSOR, OBSERVED, digest_observed, digest_values, put_seal, select_seal
from weighbeam.store.seals import COLLECTED as CURSORS


@dataclass(frozen=True, slots=True)
class CommittedRound:
    """A round's place in the chain, and what it changed."""

    id: str
    sequence: int
    hash: str
    scored: Scored
    standings: tuple[Standing, ...]


class Journal:
    """Append-only record of rounds in a store; `sinks` are further jobs of each committed round."""

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
        question, packed = encode_task(asked), observation.pack()
        with self.store.write() as connection:
            (task,) = insert_blobs(connection, [question])
            answers = insert_beside(connection, encode_answers(asked.answers), question)
            seen = insert_planes(connection, packed, find_runs(observation.arrays, len(packed)))
            texts, kept = _insert_texts(connection, list(observation.texts.values()), question)
            body = canonical_json(format_body(facts, task, answers, seen, texts))
            (digest,) = insert_blobs(connection, [body])
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
            sealed = digest_observed(facts.id, facts.mechanism, facts.at, facts.block, digest)
            put_seal(connection, OBSERVED, facts.id, sealed)
            if also is not None:
                also(connection)

    def commit(self, round_id: str, mechanism: Mechanism) -> CommittedRound:
        """Score a recorded round and append it to the chain: one transaction, once."""
        with trace("commit", mechanism=mechanism.name):
            return self._commit(round_id, mechanism)

    def _commit(self, round_id: str, mechanism: Mechanism) -> CommittedRound:
        with self.store.write() as connection:
            row = connection.execute(select(tables.rounds).where(tables.rounds.c.id == round_id)).one_or_none()
            if row is None or row.state != "observed":
                raise WeighbeamError("not_open", f"round {round_id} is not waiting to be scored", "nothing to do")
            same = select_seal(connection, OBSERVED, round_id) == _digest_row(row)
            require(same, "journal_differs", f"round {round_id} differs from what was observed", REMEDY)
            put_seal(connection, OBSERVED, round_id, None)
            body = json.loads(select_blob(connection, row.body))
            observation = Observation.unpack(select_blob(connection, body["observation"]))
            params = recall_params(mechanism, body["params"])
            before = select_standings(connection, mechanism.name)
            _require_standings(connection, mechanism.name, before)
            with trace("score", mechanism=mechanism.name):
                scored, after = apply_round(mechanism, params, body["departed"], observation, before)
            written = encode_outcome(row.body, scored, after)
            (outcome,) = insert_blobs(connection, [written])
            connection.execute(insert(tables.round_blobs).values(round=round_id, digest=outcome))
            sequence, digest = append_entry(connection, "round", round_id, outcome)
            insert_scores(connection, round_id, scored)
            insert_evaluations(connection, list_evaluations(mechanism, row.id, row.at, scored))
            update_standings(connection, mechanism.name, after, before)
            task = json.loads(select_blob(connection, body["task"]))
            insert_standing_history(connection, list_standing_history(mechanism, row.id, row.at, task, scored, after))
            known = select_last_seen(connection, mechanism.name)
            update_last_seen(connection, mechanism.name, note_round(known, body["departed"], row.at, scored), known)
            fault = find_fault(mechanism, params, observation, scored)
            void = "lateness" in body
            enqueue_round_jobs(connection, round_id, row.at, mechanism, scored, self.sinks, fault, void)
            connection.execute(
                update(tables.rounds).where(tables.rounds.c.id == round_id).values(state="scored", sequence=sequence)
            )
        return CommittedRound(round_id, sequence, digest, scored, after)

    def discard(self, round_id: str) -> None:
        """Give up an observed round that cannot be scored: it stays until retention, and counts for nothing.

        What it had collected is collected again.
        """
        chosen = (tables.rounds.c.id == round_id) & (tables.rounds.c.state == "observed")
        with self.store.write() as connection:
            row = connection.execute(select(tables.rounds).where(chosen)).one_or_none()
            connection.execute(update(tables.rounds).where(chosen).values(state="discarded"))
            if row is not None:
                broken = select_seal(connection, OBSERVED, round_id) not in (None, _digest_row(row))
                put_seal(connection, OBSERVED, round_id, BROKEN if broken else None)
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
            seen = select_last_seen(connection, mechanism)
            return {standing.hotkey for standing in select_standings(connection, mechanism)} | set(seen)

    def standings(self, mechanism: str) -> tuple[Standing, ...]:
        with self.store.read() as connection:
            return select_standings(connection, mechanism)


def _insert_texts(connection: Connection, texts: Sequence[str], question: bytes) -> tuple[str | None, list[str]]:
    """Store texts, and return their names in the body and the digests: in one content, or one each if they are many."""
    together = encode_texts(texts)
    if together is None:
        return None, insert_blobs(connection, [text.encode("utf-8", "surrogatepass") for text in texts])
    digest = insert_beside(connection, together, question)
    return digest, [digest]


def _digest_row(row: Row[Any]) -> str:
    return digest_observed(row.id, row.mechanism, row.at, row.block, row.body)


def name_cursor(mechanism: str) -> str:
    """Under which name it is remembered how far contributions were collected."""
    return f"{CURSOR}{mechanism}"


def _collect_again(connection: Connection, row: Row[Any]) -> None:
    """Go back to where a discarded round began, unless a later one went on from its end."""
    task = json.loads(select_blob(connection, json.loads(select_blob(connection, row.body))["task"]))
    key = name_cursor(row.mechanism)
    if task["id"] == COLLECTED and look_up(connection, key) == task["body"]["until"]:
        move_cursor(connection, row.mechanism, task["body"]["after"])


def move_cursor(connection: Connection, mechanism: str, cursor: Json) -> None:
    """Remember how far contributions were collected, and seal it: what lies before it is never collected again."""
    note(connection, name_cursor(mechanism), cursor)
    put_seal(connection, CURSORS, mechanism, digest_values(cursor))


def _require_standings(connection: Connection, mechanism: str, found: Sequence[Standing]) -> None:
    """Nothing is built on standings that are not those of the newest round, or of the checkpoint that replaced it."""
    rounds, entries = tables.rounds.c, tables.entries.c
    newest = select(func.max(rounds.sequence)).where(rounds.mechanism == mechanism, rounds.state == "scored")
    digest = connection.scalar(select(entries.body).where(entries.sequence == newest.scalar_subquery()))
    expected: tuple[Standing, ...] = ()
    if digest is not None:
        rows = json.loads(select_blob(connection, digest))["standings"]
        expected = tuple(Standing(hotkey, value, detail) for hotkey, value, detail in rows)
    elif (checkpoint := select_checkpoint(connection)) is not None and mechanism in checkpoint.reached:
        expected = checkpoint.reached[mechanism].standings
    told = f"the standings of {mechanism} differ from those of its newest round"
    require(tuple(found) == expected, "journal_differs", told, REMEDY)
