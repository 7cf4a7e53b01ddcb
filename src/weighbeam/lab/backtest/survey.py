"""Content of a journal before any replay: mechanisms, times, parameters, weigh-ins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weighbeam.core.canonical import canonical_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.checkpoint import Checkpoint, select_checkpoint
from weighbeam.engine.journal.fold import RecordedEntry, walk_entries
from weighbeam.engine.journal.state import ReplayState
from weighbeam.engine.rules.constants import Averaging, WeighInLimits
from weighbeam.engine.rules.decision import Burn
from weighbeam.lab.backtest.window import Window, check_edges
from weighbeam.store.database import Store


@dataclass(frozen=True, slots=True)
class SurveyedWeighIn:
    """A recorded weigh-in: its place, its time, how it averaged, the limits it kept, and who took what was burnt."""

    sequence: int
    at: float
    averaging: Averaging
    limits: WeighInLimits
    burn: Burn | None = None


@dataclass(slots=True)
class MechanismHistory:
    """History of one mechanism in the journal; `params` are the distinct parameters of its rounds."""

    rounds: int = 0
    first: float | None = None
    last: float | None = None
    params: dict[bytes, Mapping[str, Any]] = field(default_factory=dict)
    weighed: list[SurveyedWeighIn] = field(default_factory=list)

    def take(self, entry: RecordedEntry) -> None:
        self.first = entry.at if self.first is None else min(self.first, entry.at)
        self.last = entry.at if self.last is None else max(self.last, entry.at)
        if entry.kind == "round":
            self.rounds += 1
            self.params.setdefault(canonical_json(entry.body["params"]), entry.body["params"])
        else:
            self.weighed.append(_parse_weigh_in(entry.sequence, entry.body["weighing"]))


@dataclass(frozen=True, slots=True)
class JournalSurvey:
    """By mechanism what is held, and what a checkpoint stands for; of mechanisms that are left out, only how they were
    weighed. Nothing after the `last` entry is read, whatever is written meanwhile."""

    held: Mapping[str, MechanismHistory]
    checkpoint: Checkpoint | None
    entries: int
    last: int
    others: Mapping[str, Sequence[SurveyedWeighIn]] = field(default_factory=dict)

    @property
    def start(self) -> Mapping[str, ReplayState]:
        return self.checkpoint.reached if self.checkpoint else {}

    @property
    def unweighed(self) -> list[str]:
        """Mechanisms with rounds that the journal never weighs."""
        return [name for name, one in self.held.items() if one.rounds and not one.weighed]

    def list_weighed(self, mechanism: str | None = None) -> list[SurveyedWeighIn]:
        """Recorded weigh-ins of a mechanism, or of all."""
        every = {**self.others, **{name: one.weighed for name, one in self.held.items()}}
        return [one for name, found in every.items() if mechanism in (None, name) for one in found]

    def find_oldest(self, mechanism: str) -> float | None:
        """From when on every emission is known; None if from the very beginning."""
        if self.checkpoint is None:
            return None
        state = self.start.get(mechanism, ReplayState())
        known = [row.at for rows in state.emissions.values() for row in rows]
        return min(known, default=self.held[mechanism].first)


def survey_journal(store: Store, only: str | None = None, window: Window | None = None) -> JournalSurvey:
    """One pass over the entries; of a round, only its parameters are read. `empty_window` if an edge is not met."""
    held: dict[str, MechanismHistory] = {}
    met: set[str] = set()
    entries = last = 0
    wanted = set() if window is None else window.list_refs()
    with store.read() as connection:
        checkpoint = select_checkpoint(connection)
        for entry in walk_entries(connection, checkpoint):
            entries, last = entries + 1, entry.sequence
            held.setdefault(entry.name, MechanismHistory()).take(entry)
            if entry.ref in wanted and only in (None, entry.name):
                met.add(entry.ref)
    kept = {name: one for name, one in held.items() if only in (None, name)}
    if not kept:
        what = "no entry" if only is None else f"no entry of {only}"
        raise WeighbeamError("empty_journal", f"the journal holds {what}", "name the journal of a validator")
    check_edges(window or Window(), met, only)
    others = {name: one.weighed for name, one in held.items() if name not in kept}
    return JournalSurvey(kept, checkpoint, entries, last, others)


def _parse_weigh_in(sequence: int, given: Mapping[str, Any]) -> SurveyedWeighIn:
    burn = Burn(**given["burn"]) if "burn" in given else None
    return SurveyedWeighIn(
        sequence, given["now"], Averaging(**given["averaging"]), WeighInLimits(**given["limits"]), burn
    )
