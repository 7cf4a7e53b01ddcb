"""The fold: one walk over a journal's entries, and one step that carries the state of each mechanism over them.

A replay folds what was recorded and compares; a checkpoint folds recorded outcomes without scoring them again; a
backtest folds the same entries twice, under the recorded terms and under others (`Fold` with its setters overridden).
A season of the lab has no entries: it shares `ReplayState` and `apply_round`, of which a step is made.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from typing import Any

from sqlalchemy import Connection, Row, select

from weighbeam.core.canonical import canonical_json, parse_first_value
from weighbeam.engine.journal.checkpoint import Checkpoint
from weighbeam.engine.journal.encoding import encode_outcome
from weighbeam.engine.journal.hash_chain import GENESIS, check_link
from weighbeam.engine.journal.state import ReplayState, apply_round
from weighbeam.engine.rules.decision import Decision
from weighbeam.engine.rules.weighing import Weighing
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params, recall_params
from weighbeam.mechanism.records import Observation, Scored, Standing
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.store import tables
from weighbeam.store.blobs import digest_bytes, select_blob

FindMechanism = Callable[[str], Mechanism]


class RecordedEntry:
    """An entry as recorded: a round or a weigh-in. Each part is loaded once, when it is first asked for.

    A round's entry is its outcome, which names the round's body first; a weigh-in's entry is its body.
    """

    def __init__(self, connection: Connection, row: Row[Any], find: FindMechanism = load_mechanism) -> None:
        self.sequence: int = row.sequence
        self.kind: str = row.kind
        self.ref: str = row.ref
        self.digest: str = row.body
        self.hash: str = row.hash
        self.broken_link: str | None = None
        self._connection, self._find = connection, find

    @cached_property
    def recorded(self) -> str:
        """The digest of the body."""
        return str(parse_first_value(self.load(self.digest), "body")) if self.kind == "round" else self.digest

    @cached_property
    def body(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.load(self.recorded))
        return found

    @property
    def name(self) -> str:
        """Of the mechanism."""
        return str(self.body["mechanism"])

    @property
    def at(self) -> float:
        return float(self.body["at"] if self.kind == "round" else self.body["weighing"]["now"])

    @cached_property
    def mechanism(self) -> Mechanism:
        return self._find(self.name)

    @cached_property
    def params(self) -> Params:
        return recall_params(self.mechanism, self.body["params"])

    @cached_property
    def observation(self) -> Observation:
        return Observation.unpack(self.load(self.body["observation"]))

    @cached_property
    def weighing(self) -> Weighing:
        return Weighing.from_json(self.body["weighing"])

    @property
    def decision(self) -> Mapping[str, Any] | None:
        """None if the journal holds no such weigh-in."""
        return self.body.get("decision")

    def load(self, digest: str) -> bytes:
        return select_blob(self._connection, digest)


def walk_entries(
    connection: Connection,
    start: Checkpoint | None = None,
    find: FindMechanism = load_mechanism,
    last: int | None = None,
) -> Iterator[RecordedEntry]:
    """Every entry after the checkpoint, in order, with what is wrong with its place in the chain."""
    query = select(tables.entries).order_by(tables.entries.c.sequence).execution_options(yield_per=1000)
    if last is not None:
        query = query.where(tables.entries.c.sequence <= last)
    previous, expected = (start.hash, start.sequence) if start else (GENESIS, 0)
    find_once = cache(find)
    for row in connection.execute(query):
        expected = row.sequence if not expected else expected + 1
        entry = RecordedEntry(connection, row, find_once)
        entry.broken_link = check_link(row, previous, expected)
        yield entry
        previous = row.hash


@dataclass(frozen=True, slots=True)
class FoldedRound:
    """Inputs and outcome of a round's scoring; `digest` is the outcome's."""

    params: Params
    before: tuple[Standing, ...]
    scored: Scored
    after: tuple[Standing, ...]
    digest: str

    def find_fault(self, entry: RecordedEntry) -> str | None:
        return None if self.digest == entry.digest else "scores or standings differ when recomputed"


@dataclass(frozen=True, slots=True)
class FoldedWeighIn:
    """Inputs and decision of a weigh-in."""

    weighing: Weighing
    decision: Decision

    def find_fault(self, entry: RecordedEntry) -> str | None:
        if entry.decision is None:
            return None
        if self.weighing.payees != entry.weighing.payees:
            return "raw weights or last successes differ from those that the rounds give"
        same = canonical_json(asdict(self.decision)) == canonical_json(dict(entry.decision))
        return None if same else "the decision differs when recomputed"


class Fold:
    """The state of each mechanism after the entries taken in so far, under the terms that were recorded."""

    def __init__(self, start: Mapping[str, ReplayState] | None = None) -> None:
        self.reached = {name: state.copy() for name, state in (start or {}).items()}

    def set_params(self, entry: RecordedEntry) -> Params:
        return entry.params

    def set_weighing(self, entry: RecordedEntry) -> tuple[Params, Weighing]:
        return entry.params, entry.weighing

    def take_round(self, entry: RecordedEntry, other: FoldedRound | None = None) -> FoldedRound:
        """Score a round; what another fold made of it is used if it had the same parameters and standings.

        Under other parameters, pay that was decided before the round is decided again.
        """
        mechanism, departed = entry.mechanism, entry.body["departed"]
        state = self.reached.setdefault(mechanism.name, ReplayState())
        params, before = self.set_params(entry), state.standings
        folded = other
        if folded is None or folded.params != params or folded.before != before:
            same = params == entry.params
            observation = entry.observation if same else mechanism.reopen(params, entry.observation)
            scored, after = apply_round(mechanism, params, departed, observation, before)
            digest = digest_bytes(encode_outcome(entry.recorded, scored, after))
            folded = FoldedRound(params, before, scored, after, digest)
        state.take(entry.ref, entry.at, departed, folded.scored, folded.after)
        return folded

    def take_outcome(self, entry: RecordedEntry) -> None:
        """Take in what a round is recorded to have led to; nothing is computed, and a weigh-in changes nothing."""
        if entry.kind != "round":
            return
        outcome = json.loads(entry.load(entry.digest))
        scored = Scored.from_json(outcome["scored"])
        after = tuple(Standing(hotkey, value, detail) for hotkey, value, detail in outcome["standings"])
        state = self.reached.setdefault(entry.name, ReplayState())
        state.take(entry.ref, entry.at, entry.body["departed"], scored, after)

    def take_weigh_in(self, entry: RecordedEntry) -> FoldedWeighIn:
        """Weigh the recorded payees by the state reached; a weigh-in changes nothing."""
        params, weighing = self.set_weighing(entry)
        weighing = self.reached.get(entry.name, ReplayState()).weigh(entry.mechanism, params, weighing)
        return FoldedWeighIn(weighing, weighing.decide())
