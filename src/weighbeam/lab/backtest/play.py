"""Go through a journal once, and let every side make of each entry what it does; however long, in bounded memory."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, select

from weighbeam.core.canonical import read_first
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.replay import FindMechanism
from weighbeam.engine.weigh_in.weighing import Weighing
from weighbeam.lab.backtest.made import Maker
from weighbeam.lab.backtest.outcome import End, Outcome
from weighbeam.lab.backtest.recall import Recall
from weighbeam.lab.backtest.side import Applied, KeptRound, KeptWeighIn, Side, find_fault
from weighbeam.lab.backtest.survey import Survey
from weighbeam.lab.backtest.window import Window
from weighbeam.mechanisms.contract import Mechanism, Observation
from weighbeam.mechanisms.make_params import make_params
from weighbeam.store import tables
from weighbeam.store.blobs import read_blob
from weighbeam.store.database import Store


@dataclass(frozen=True, slots=True)
class Course:
    """How to go: which part, of which mechanism, and how often to weigh if not as recorded."""

    find: FindMechanism
    window: Window = field(default_factory=Window)
    only: str | None = None
    weigh_every: float | None = None
    on_entry: Callable[[], None] | None = None

    def __post_init__(self) -> None:
        if self.weigh_every is not None and not (math.isfinite(self.weigh_every) and self.weigh_every > 0):
            told = f"it cannot be weighed every {self.weigh_every} seconds"
            raise WeighbeamError("bad_usage", told, "give a number of seconds above 0")


@dataclass(frozen=True, slots=True)
class Played:
    """What each side made of an entry; `fault` if the first, the recorded one, did not reach what the journal holds.

    It `counts` unless it lies before the part that is compared.
    """

    outcomes: tuple[Outcome, ...]
    fault: str | None = None
    counts: bool = True


def play(store: Store, survey: Survey, sides: Sequence[Side], course: Course) -> Iterator[Played]:
    """Every entry of the window in order, then the end. The first side's terms are the journal's own."""
    player = _Player(survey, sides, course)
    known = tables.entries.c.sequence <= survey.last
    with store.read() as connection:
        _check_complete(connection, survey, known)
        for row in connection.execute(select(tables.entries).where(known).order_by(tables.entries.c.sequence)):
            if course.on_entry is not None:
                course.on_entry()
            yield from player.take(connection, row)
            if player.is_over:
                break
        yield from player.finish()


def _check_complete(connection: Connection, survey: Survey, known: ColumnElement[bool]) -> None:
    """Entries may be added meanwhile; if a clean-up took some away, what was surveyed is no more."""
    if connection.scalar(select(func.count()).select_from(tables.entries).where(known)) != survey.entries:
        raise WeighbeamError("journal_changed", "the journal was cleaned up while it was read", "run it again")


class _Player:
    def __init__(self, survey: Survey, sides: Sequence[Side], course: Course) -> None:
        self._survey, self._sides, self._course = survey, sides, course
        self._recall = Recall(survey, sides, course.weigh_every)
        self._began = self.is_over = False
        self._met: dict[str, Mechanism] = {}
        self._last: dict[str, tuple[int, float, dict[str, Any]]] = {}
        self._uids: dict[str, dict[str, int]] = {}
        self._due: dict[str, float] = {}
        self._makers: dict[str, Maker] = {}
        self._unweighed = self._recall.unweighed if course.weigh_every is None else set(survey.held)

    def take(self, connection: Connection, row: Row[Any]) -> Iterator[Played]:
        recorded = str(read_first(read_blob(connection, row.body), "body")) if row.kind == "round" else row.body
        body = json.loads(read_blob(connection, recorded))
        at = body["at"] if row.kind == "round" else body["weighing"]["now"]
        if self._course.only not in (None, body["mechanism"]):
            return
        if self._course.window.ends_before(at):
            self.is_over = True
            return
        self._began = self._began or self._course.window.begins(row.ref, at)
        for side in self._sides:
            side.active = self._began
        mechanism = self._met.setdefault(body["mechanism"], self._course.find(body["mechanism"]))
        yield from self._show(self._weigh_until(mechanism, at))
        if row.kind == "round":
            yield from self._show([self._take_round(connection, row, mechanism, recorded, body)])
        elif self._course.weigh_every is None:
            yield from self._show([self._take_weigh_in(row, mechanism, body)])
        self.is_over = self._course.window.ends_with(row.ref)

    def finish(self) -> Iterator[Played]:
        """Where no weigh-in was, or none was due, one at the end; then how everybody stands."""
        for name in sorted(self._unweighed & self._last.keys()):
            sequence, at, params = self._last[name]
            yield from self._show([self._make_weigh_in(self._met[name], sequence, at, params)])
        if self._began:
            last = {name: self._last[name][1] if name in self._last else 0.0 for name in self._met}
            ends = tuple(
                End({name: side.stand(mechanism, last[name]) for name, mechanism in self._met.items()})
                for side in self._sides
            )
            yield Played(ends)

    def _show(self, played: Sequence[Played] | Iterator[Played]) -> Iterator[Played]:
        """What was before the window is played and not compared; what it left in force still pays."""
        for one in played:
            yield replace(one, counts=self._began)

    def _take_round(
        self, connection: Connection, row: Row[Any], mechanism: Mechanism, recorded: str, body: dict[str, Any]
    ) -> Played:
        observation = Observation.unpack(read_blob(connection, body["observation"]))
        kept = KeptRound(row.sequence, row.ref, mechanism, recorded, body, observation)
        outcomes: list[Outcome] = []
        applied: Applied | None = None
        for side in self._sides:
            outcome, done = side.take_round(kept, applied)
            applied = applied or done
            outcomes.append(outcome)
        self._last[mechanism.name] = (row.sequence, body["at"], body["params"])
        if mechanism.name in self._recall.unweighed or self._course.weigh_every is not None:
            self._note_uids(connection, mechanism.name, body)
        self._recall.after_round(mechanism.name)
        differs = getattr(outcomes[0], "digest", None) != row.body
        fault = f"entry {row.sequence}, {row.ref}: scores or standings differ when computed again"
        return Played(tuple(outcomes), fault if differs else None)

    def _take_weigh_in(self, row: Row[Any], mechanism: Mechanism, body: dict[str, Any]) -> Played:
        weighing = Weighing.from_json(body["weighing"])
        kept = KeptWeighIn(row.sequence, row.ref, mechanism, body["params"], weighing, body["decision"])
        return self._weigh(kept)

    def _weigh(self, kept: KeptWeighIn) -> Played:
        outcomes: list[Outcome] = []
        fault = None
        recorded = None if kept.decision is None else str(kept.decision["action"])
        for side in self._sides:
            outcome, weighing, decision = side.take_weigh_in(kept, recorded)
            recorded = recorded or decision.action
            if not outcomes and (found := find_fault(kept, weighing, decision)) is not None:
                fault = f"entry {kept.sequence}, weigh-in of {kept.mechanism.name}: {found}"
            outcomes.append(outcome)
        self._recall.after_weigh_in(kept.mechanism.name, kept.weighing.now)
        return Played(tuple(outcomes), fault)

    def _weigh_until(self, mechanism: Mechanism, at: float) -> Iterator[Played]:
        """The weigh-ins that are due before an entry, at regular times from the mechanism's first round on."""
        every = self._course.weigh_every
        if every is None:
            return
        due = self._due.setdefault(mechanism.name, at + every)
        while due <= at:
            sequence, _, params = self._last.get(mechanism.name, (0, at, {}))
            yield self._make_weigh_in(mechanism, sequence, due, params)
            due += every
        self._due[mechanism.name] = due

    def _make_weigh_in(self, mechanism: Mechanism, sequence: int, at: float, params: dict[str, Any]) -> Played:
        if mechanism.name not in self._makers:
            self._makers[mechanism.name] = Maker(self._survey, mechanism)
        uids = self._uids.get(mechanism.name, {})
        weighing = self._makers[mechanism.name].make(at, uids, make_params(mechanism, params))
        if self._began:
            self._unweighed.discard(mechanism.name)
        return self._weigh(KeptWeighIn(sequence, f"made after {sequence}", mechanism, params, weighing))

    def _note_uids(self, connection: Connection, mechanism: str, body: dict[str, Any]) -> None:
        """Who was asked and has not left; one without a uid gets the next that is free."""
        known = self._uids.setdefault(mechanism, {})
        for hotkey in body["departed"]:
            known.pop(hotkey, None)
        for hotkey, uid, *_ in json.loads(read_blob(connection, body["answers"])):
            known[hotkey] = uid if uid is not None else known.get(hotkey, max(known.values(), default=-1) + 1)
