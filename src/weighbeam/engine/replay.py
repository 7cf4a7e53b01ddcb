"""Recompute everything from the journal, without models or network, and name the first thing that differs.

Every entry's hash, every stored content, every score and every standing is computed again and compared to the bit.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, Row, select

from weighbeam.core.canonical import canonical_json, read_first
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal import GENESIS, apply_body, hash_entry, read_standings, write_outcome
from weighbeam.engine.weigh_in.run import Weighing, weigh_fresh
from weighbeam.mechanisms.contract import Mechanism, Observation, Scored, Standing, hash_params, make_params
from weighbeam.store import tables
from weighbeam.store.blobs import digest_bytes, read_blob
from weighbeam.store.database import Store

FindMechanism = Callable[[str], Mechanism]


@dataclass(frozen=True, slots=True)
class Replayed:
    """One entry computed again; `fault` says what differs."""

    sequence: int
    ref: str
    fault: str | None


def replay(store: Store, find: FindMechanism) -> Iterator[Replayed]:
    """Every entry in order, then the tables that should follow from them."""
    standings: dict[str, tuple[Standing, ...]] = {}
    previous, expected = GENESIS, 0
    with store.read() as connection:
        for row in connection.execute(select(tables.entries).order_by(tables.entries.c.sequence)):
            expected = row.sequence if not expected else expected + 1
            fault = _check_link(row, previous, expected)
            if fault is None:
                again = _replay_round if row.kind == "round" else _replay_weigh_in
                try:
                    fault = again(connection, row, standings, find)
                except WeighbeamError as broken:
                    fault = f"{broken.code}: {broken.message}"
            yield Replayed(row.sequence, row.ref, fault)
            previous = row.hash
        for mechanism, reached in standings.items():
            same = read_standings(connection, mechanism) == reached
            fault = None if same else "the standings table is not what the rounds lead to"
            yield Replayed(expected, f"standings of {mechanism}", fault)


def _check_link(row: Row[Any], previous: str, expected: int) -> str | None:
    if row.sequence != expected:
        return f"entry {expected} is missing"
    if row.previous != previous:
        return "it does not follow the entry before it"
    if hash_entry(row.previous, row.kind, row.ref, row.body) != row.hash:
        return "its hash is not that of its content"
    return None


def _replay_round(
    connection: Connection, row: Row[Any], standings: dict[str, tuple[Standing, ...]], find: FindMechanism
) -> str | None:
    outcome = read_blob(connection, row.body)
    recorded = str(read_first(outcome, "body"))
    body = json.loads(read_blob(connection, recorded))
    mechanism = find(body["mechanism"])
    params = make_params(mechanism, body["params"])
    observation = Observation.unpack(read_blob(connection, body["observation"]))
    if hash_params(mechanism, params, observation.facts.get("senses", {})) != body["params_hash"]:
        return "params_hash is not that of its parameters and senses"
    for name in ("task", "answers"):
        read_blob(connection, body[name])
    before = standings.get(mechanism.name, ())
    scored, after = apply_body(mechanism, params, body, observation, before)
    standings[mechanism.name] = after
    if digest_bytes(write_outcome(recorded, scored, after)) != row.body:
        return "scores or standings differ when computed again"
    return _check_tables(connection, row, body, recorded, scored)


def _replay_weigh_in(
    connection: Connection, row: Row[Any], standings: dict[str, tuple[Standing, ...]], find: FindMechanism
) -> str | None:
    body = json.loads(read_blob(connection, row.body))
    mechanism = find(body["mechanism"])
    weighing = Weighing.from_json(body["weighing"])
    weighed = {payee.hotkey: payee.last_success_at for payee in weighing.payees}
    params = make_params(mechanism, body["params"])
    raw = weigh_fresh(mechanism, params, standings.get(mechanism.name, ()), weighed, weighing.mode)
    if any(payee.raw != raw.get(payee.hotkey, 0.0) for payee in weighing.payees):
        return "raw weights are not what the standings lead to"
    if canonical_json(asdict(weighing.decide())) != canonical_json(body["decision"]):
        return "the decision differs when made again"
    return None


def _check_tables(
    connection: Connection, row: Row[Any], body: dict[str, object], recorded: str, scored: Scored
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
    table = tables.evaluations
    judged = connection.execute(select(table).where(table.c.round == row.ref))
    found = {one.hotkey: (one.mechanism, one.at, one.emission, one.success) for one in judged}
    emissions = scored.summary.get("emissions", {})
    wanted = {
        score.hotkey: (body["mechanism"], body["at"], emissions.get(score.hotkey), score.status == "valid")
        for score in scored.scores
        if score.status != "unscored"
    }
    return None if found == wanted else "the evaluations table does not match"
