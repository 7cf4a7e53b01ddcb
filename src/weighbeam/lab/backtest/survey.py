"""What a journal holds, before any of it is computed again: mechanisms, times, parameters, weigh-ins."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from weighbeam.core.canonical import canonical_json, read_first
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.checkpoint import Checkpoint, read_checkpoint
from weighbeam.engine.reached import Reached
from weighbeam.engine.weigh_in.burn import Burn
from weighbeam.engine.weigh_in.constants import Averaging
from weighbeam.engine.weigh_in.limits import WeighInLimits
from weighbeam.lab.backtest.window import Window, check_edges
from weighbeam.store import tables
from weighbeam.store.blobs import read_blob
from weighbeam.store.database import Store


@dataclass(frozen=True, slots=True)
class Weighed:
    """A recorded weigh-in: its place, its time, how it averaged, the limits it kept, and who took what was burnt."""

    sequence: int
    at: float
    averaging: Averaging
    limits: WeighInLimits
    burn: Burn | None = None


@dataclass(slots=True)
class Held:
    """What the journal holds of one mechanism; `params` are those its rounds were scored under, each once."""

    rounds: int = 0
    first: float | None = None
    last: float | None = None
    params: dict[bytes, Mapping[str, Any]] = field(default_factory=dict)
    weighed: list[Weighed] = field(default_factory=list)

    def take(self, sequence: int, kind: str, body: Mapping[str, Any]) -> None:
        if kind == "round":
            self.rounds += 1
            self.note(body["at"])
            self.params.setdefault(canonical_json(body["params"]), body["params"])
        else:
            self.note(body["weighing"]["now"])
            self.weighed.append(_read_weighed(sequence, body["weighing"]))

    def note(self, at: float) -> None:
        self.first = at if self.first is None else min(self.first, at)
        self.last = at if self.last is None else max(self.last, at)


@dataclass(frozen=True, slots=True)
class Survey:
    """By mechanism what is held, and what a checkpoint stands for; of mechanisms that are left out, only how they were
    weighed. Nothing after the `last` entry is read, whatever is written meanwhile."""

    held: Mapping[str, Held]
    checkpoint: Checkpoint | None
    entries: int
    last: int
    others: Mapping[str, Sequence[Weighed]] = field(default_factory=dict)

    @property
    def start(self) -> Mapping[str, Reached]:
        return self.checkpoint.reached if self.checkpoint else {}

    def list_weighed(self, mechanism: str | None = None) -> list[Weighed]:
        """Recorded weigh-ins of a mechanism, or of all."""
        every = {**self.others, **{name: one.weighed for name, one in self.held.items()}}
        return [one for name, found in every.items() if mechanism in (None, name) for one in found]

    def find_oldest(self, mechanism: str) -> float | None:
        """From when on every emission is known; None if from the very beginning."""
        if self.checkpoint is None:
            return None
        state = self.start.get(mechanism, Reached())
        known = [row.at for rows in state.emissions.values() for row in rows]
        return min(known, default=self.held[mechanism].first)


def survey_journal(store: Store, only: str | None = None, window: Window | None = None) -> Survey:
    """One pass over the entries; of a round, only its parameters are read. `empty_window` if an edge is not met."""
    held: dict[str, Held] = {}
    met: set[str] = set()
    entries = last = 0
    wanted = set() if window is None else window.list_refs()
    with store.read() as connection:
        checkpoint = read_checkpoint(connection)
        for row in connection.execute(select(tables.entries).order_by(tables.entries.c.sequence)):
            entries, last = entries + 1, row.sequence
            body = json.loads(read_blob(connection, _find_body(connection, row.kind, row.body)))
            held.setdefault(body["mechanism"], Held()).take(row.sequence, row.kind, body)
            if row.ref in wanted and only in (None, body["mechanism"]):
                met.add(row.ref)
    kept = {name: one for name, one in held.items() if only in (None, name)}
    if not kept:
        what = "no entry" if only is None else f"no entry of {only}"
        raise WeighbeamError("empty_journal", f"the journal holds {what}", "name the journal of a validator")
    check_edges(window or Window(), met, only)
    others = {name: one.weighed for name, one in held.items() if name not in kept}
    return Survey(kept, checkpoint, entries, last, others)


def _read_weighed(sequence: int, given: Mapping[str, Any]) -> Weighed:
    burn = Burn(**given["burn"]) if "burn" in given else None
    return Weighed(sequence, given["now"], Averaging(**given["averaging"]), WeighInLimits(**given["limits"]), burn)


def _find_body(connection: Connection, kind: str, digest: str) -> str:
    """A round's entry is its outcome, which names its body first."""
    return str(read_first(read_blob(connection, digest), "body")) if kind == "round" else digest
