"""Recompute everything from the journal, without models or network, and name the first thing that differs.

Every entry's hash, every stored content, every score and every standing is computed again and compared to the bit.
Texts that only explain may be deleted, not changed.
"""

import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, Row, select

from weighbeam.core.canonical import canonical_json, read_first
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.checkpoint import read_checkpoint
from weighbeam.engine.hash_chain import GENESIS, hash_entry
from weighbeam.engine.journal import apply_body
from weighbeam.engine.lay_out import list_evaluations, read_seen, read_standings
from weighbeam.engine.reached import Reached
from weighbeam.engine.round_bytes import write_outcome
from weighbeam.engine.standing_history import list_after, matches_after
from weighbeam.engine.weigh_in.ema import Evaluation
from weighbeam.engine.weigh_in.weighing import Weighing, list_payees
from weighbeam.mechanisms.contract import Mechanism, Observation, Scored
from weighbeam.mechanisms.make_params import hash_params, make_params
from weighbeam.store import tables
from weighbeam.store.blobs import digest_bytes, read_blob, read_blobs
from weighbeam.store.database import Store

FindMechanism = Callable[[str], Mechanism]


@dataclass(frozen=True, slots=True)
class Replayed:
    """One entry computed again; `fault` says what differs."""

    sequence: int
    ref: str
    fault: str | None


def replay(store: Store, find: FindMechanism) -> Iterator[Replayed]:
    """Every entry in order, from the checkpoint on if there is one, then the tables that should follow from them."""
    with store.read() as connection:
        try:
            start = read_checkpoint(connection)
        except WeighbeamError as broken:
            yield Replayed(0, "checkpoint", broken.message)
            return
        reached = dict(start.reached) if start else {}
        previous = start.hash if start else GENESIS
        expected = start.sequence if start else 0
        if start:
            yield Replayed(start.sequence, f"checkpoint signed by {start.hotkey}", None)
        for row in connection.execute(select(tables.entries).order_by(tables.entries.c.sequence)):
            expected = row.sequence if not expected else expected + 1
            fault = check_link(row, previous, expected)
            if fault is None:
                again = _replay_round if row.kind == "round" else _replay_weigh_in
                try:
                    fault = again(connection, row, reached, find)
                except WeighbeamError as broken:
                    fault = f"{broken.code}: {broken.message}"
            yield Replayed(row.sequence, row.ref, fault)
            previous = row.hash
        for mechanism, state in reached.items():
            yield Replayed(expected, f"tables of {mechanism}", _check_state(connection, mechanism, state))


def _check_state(connection: Connection, mechanism: str, state: Reached) -> str | None:
    if read_standings(connection, mechanism) != state.standings:
        return "the standings table is not what the rounds lead to"
    if read_seen(connection, mechanism) != state.seen:
        return "the miners table is not what the rounds lead to"
    if _read_emissions(connection, mechanism) != {hotkey: set(rows) for hotkey, rows in state.emissions.items()}:
        return "the evaluations table is not what the rounds lead to"
    return None


def _read_emissions(connection: Connection, mechanism: str) -> dict[str, set[Evaluation]]:
    columns = tables.evaluations.c
    query = select(columns.hotkey, columns.at, columns.round, columns.emission)
    found: dict[str, set[Evaluation]] = {}
    for hotkey, *row in connection.execute(query.where(columns.mechanism == mechanism, columns.emission.is_not(None))):
        found.setdefault(hotkey, set()).add(Evaluation(*row))
    return found


def check_link(row: Row[Any], previous: str, expected: int) -> str | None:
    """What is wrong with an entry's place in the chain."""
    if row.sequence != expected:
        return f"entry {expected} is missing"
    if row.previous != previous:
        return "it does not follow the entry before it"
    if hash_entry(row.previous, row.kind, row.ref, row.body) != row.hash:
        return "its hash is not that of its content"
    return None


def _replay_round(
    connection: Connection, row: Row[Any], reached: dict[str, Reached], find: FindMechanism
) -> str | None:
    outcome = read_blob(connection, row.body)
    recorded = str(read_first(outcome, "body"))
    body = json.loads(read_blob(connection, recorded))
    mechanism = find(body["mechanism"])
    params = make_params(mechanism, body["params"])
    observation = Observation.unpack(read_blob(connection, body["observation"]))
    if hash_params(mechanism, params, observation.facts.get("senses", {})) != body["params_hash"]:
        return "params_hash is not that of its parameters and senses"
    read_blob(connection, body["answers"])
    _check_texts(
        connection, row.ref, {row.body, recorded, *(body[part] for part in ("observation", "task", "answers"))}
    )
    task = json.loads(read_blob(connection, body["task"]))
    state = reached.setdefault(mechanism.name, Reached())
    scored, after = apply_body(mechanism, params, body, observation, state.standings)
    state.standings = after
    state.note(row.ref, body["at"], body["departed"], scored)
    if digest_bytes(write_outcome(recorded, scored, after)) != row.body:
        return "scores or standings differ when computed again"
    if not matches_after(connection, row.ref, list_after(mechanism, row.ref, body["at"], task, scored, after)):
        return "the standings over time do not match"
    return _check_tables(connection, row, body, recorded, scored, mechanism)


def _check_texts(connection: Connection, round_id: str, known: Collection[str]) -> None:
    """What is kept of a round for people only, besides `known`, may be deleted; if it is there it is what it was."""
    links = tables.round_blobs.c
    kept = select(links.digest).join(tables.blobs, tables.blobs.c.digest == links.digest)
    read_blobs(connection, list(connection.scalars(kept.where(links.round == round_id, links.digest.not_in(known)))))


def _replay_weigh_in(
    connection: Connection, row: Row[Any], reached: dict[str, Reached], find: FindMechanism
) -> str | None:
    body = json.loads(read_blob(connection, row.body))
    mechanism = find(body["mechanism"])
    weighing = Weighing.from_json(body["weighing"])
    params = make_params(mechanism, body["params"])
    state = reached.get(mechanism.name, Reached())
    burn = weighing.burn
    uids = {payee.hotkey: payee.uid for payee in weighing.payees if burn is None or payee.hotkey != burn.hotkey}
    normal, emergency = weighing.mode == "NORMAL", weighing.mode == "EMERGENCY"
    hours = weighing.limits.freshness_hours if normal else weighing.limits.freshness_hours_degraded
    standings = state.stand(mechanism, uids, weighing.now, weighing.averaging, lookback=not emergency)
    gate = None if emergency else hours
    again = list_payees(mechanism, params, uids, standings, state.seen, weighing.now, gate, burn)
    if again != weighing.payees:
        return "raw weights or last successes are not what the rounds lead to"
    if canonical_json(asdict(weighing.decide())) != canonical_json(body["decision"]):
        return "the decision differs when made again"
    return None


def _check_tables(
    connection: Connection, row: Row[Any], body: dict[str, Any], recorded: str, scored: Scored, mechanism: Mechanism
) -> str | None:
    stored = connection.execute(select(tables.rounds).where(tables.rounds.c.id == row.ref)).one_or_none()
    if stored is None or (stored.state, stored.body, stored.sequence) != ("scored", recorded, row.sequence):
        return "the rounds table does not match"
    if (stored.mechanism, stored.at, stored.block) != (body["mechanism"], body["at"], body["block"]):
        return "the rounds table does not match"
    rows = connection.execute(select(tables.scores).where(tables.scores.c.round == row.ref))
    kept = {one.hotkey: (one.status, one.value, tuple(one.reasons)) for one in rows}
    if kept != {score.hotkey: (score.status, score.value, score.reasons) for score in scored.scores}:
        return "the scores table does not match"
    judged = connection.execute(select(tables.evaluations).where(tables.evaluations.c.round == row.ref))
    found = {one.hotkey: dict(one._mapping) for one in judged}
    wanted = {one["hotkey"]: one for one in list_evaluations(mechanism, row.ref, body["at"], scored)}
    return None if found == wanted else "the evaluations table does not match"
