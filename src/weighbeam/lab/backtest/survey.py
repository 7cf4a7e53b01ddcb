"""What a journal holds, before any of it is computed again: mechanisms, times, parameters, weigh-ins."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from weighbeam.core.canonical import canonical_json, read_first
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.checkpoint import Checkpoint, read_checkpoint
from weighbeam.engine.reached import Reached
from weighbeam.engine.weigh_in.constants import Averaging
from weighbeam.engine.weigh_in.limits import WeighInLimits
from weighbeam.store import tables
from weighbeam.store.blobs import read_blob
from weighbeam.store.database import Store


@dataclass(frozen=True, slots=True)
class Weighed:
    """A recorded weigh-in: its place, its time, how it averaged, and the limits it kept."""

    sequence: int
    at: float
    averaging: Averaging
    limits: WeighInLimits


@dataclass(slots=True)
class Held:
    """What the journal holds of one mechanism; `params` are those its rounds were scored under, each once."""

    rounds: int = 0
    first: float | None = None
    last: float | None = None
    params: dict[bytes, Mapping[str, Any]] = field(default_factory=dict)
    weighed: list[Weighed] = field(default_factory=list)

    def note(self, at: float) -> None:
        self.first = at if self.first is None else min(self.first, at)
        self.last = at if self.last is None else max(self.last, at)


@dataclass(frozen=True, slots=True)
class Survey:
    """By mechanism what is held, and what a checkpoint stands for."""

    held: Mapping[str, Held]
    checkpoint: Checkpoint | None
    entries: int

    @property
    def start(self) -> Mapping[str, Reached]:
        return self.checkpoint.reached if self.checkpoint else {}

    def find_oldest(self, mechanism: str) -> float | None:
        """From when on every emission is known; None if from the very beginning."""
        if self.checkpoint is None:
            return None
        state = self.start.get(mechanism, Reached())
        known = [row.at for rows in state.emissions.values() for row in rows]
        return min(known, default=self.held[mechanism].first)


def survey_journal(store: Store, only: str | None = None) -> Survey:
    """One pass over the entries; of a round, only its parameters are read."""
    held: dict[str, Held] = {}
    entries = 0
    with store.read() as connection:
        checkpoint = read_checkpoint(connection)
        for row in connection.execute(select(tables.entries).order_by(tables.entries.c.sequence)):
            entries += 1
            body = json.loads(read_blob(connection, _find_body(connection, row.kind, row.body)))
            if only is not None and body["mechanism"] != only:
                continue
            one = held.setdefault(body["mechanism"], Held())
            if row.kind == "round":
                one.rounds += 1
                one.note(body["at"])
                one.params.setdefault(canonical_json(body["params"]), body["params"])
            else:
                one.note(body["weighing"]["now"])
                one.weighed.append(_read_weighed(row.sequence, body["weighing"]))
    if not held:
        what = "no entry" if only is None else f"no entry of {only}"
        raise WeighbeamError("empty_journal", f"the journal holds {what}", "name the journal of a validator")
    return Survey(held, checkpoint, entries)


def _read_weighed(sequence: int, given: Mapping[str, Any]) -> Weighed:
    return Weighed(sequence, given["now"], Averaging(**given["averaging"]), WeighInLimits(**given["limits"]))


def _find_body(connection: Connection, kind: str, digest: str) -> str:
    """A round's entry is its outcome, which names its body first."""
    return str(read_first(read_blob(connection, digest), "body")) if kind == "round" else digest
