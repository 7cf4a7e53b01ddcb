"""Go through a journal once, and let every side make of each entry what it does; however long, in bounded memory."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import SQLAlchemyError

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.fold import FindMechanism, RecordedEntry, walk_entries
from weighbeam.engine.support.package_faults import contain
from weighbeam.lab.backtest.horizon import EmissionHorizon
from weighbeam.lab.backtest.made_weigh_ins import WeighInMaker
from weighbeam.lab.backtest.outcome import FinalStandings, Outcome
from weighbeam.lab.backtest.side import BacktestSide, make_round_outcome, make_weigh_in_outcome
from weighbeam.lab.backtest.survey import JournalSurvey
from weighbeam.lab.backtest.window import Window
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.untrusted import describe_exception
from weighbeam.store import tables
from weighbeam.store.database import Store


@dataclass(frozen=True, slots=True)
class BacktestCourse:
    """How to go: which part, of which mechanism, and how often to weigh if not as recorded."""

    find: FindMechanism
    window: Window = field(default_factory=Window)
    only: str | None = None
    weigh_every: float | None = None
    on_entry: Callable[[], None] | None = None

    def __post_init__(self) -> None:
        if self.weigh_every is not None and not (math.isfinite(self.weigh_every) and self.weigh_every > 0):
            told = f"the interval between weigh-ins cannot be {self.weigh_every} seconds"
            raise WeighbeamError("bad_usage", told, "give a number of seconds above 0")


@dataclass(frozen=True, slots=True)
class PlayedEntry:
    """Outcome of an entry on each side; `fault` if the first, recorded side does not reproduce the journal.

    It `counts` unless it lies before the part that is compared. There are no outcomes if the mechanism's code raised.
    """

    outcomes: tuple[Outcome, ...]
    fault: str | None = None
    counts: bool = True


def play(
    store: Store, survey: JournalSurvey, sides: Sequence[BacktestSide], course: BacktestCourse
) -> Iterator[PlayedEntry]:
    """Every entry of the window in order, then how everybody stands. The first side's terms are the journal's own.

    What is before the window is played and not compared; what it left in force still pays.
    """
    window = _WindowEntries(survey, course)
    horizon = EmissionHorizon(survey, sides, course.weigh_every)
    with store.read() as connection:
        _check_complete(connection, survey)
        for entry in window.walk(connection):
            for side in sides:
                side.active = window.began
            outcomes, fault = _take(entry, sides)
            horizon.note(entry)
            yield PlayedEntry(outcomes, fault, window.began)
        if window.began:
            yield PlayedEntry(tuple(FinalStandings(window.stand(side)) for side in sides))


def _check_complete(connection: Connection, survey: JournalSurvey) -> None:
    """Fail if a clean-up removed surveyed entries; new entries do no harm."""
    known = select(func.count()).select_from(tables.entries).where(tables.entries.c.sequence <= survey.last)
    if connection.scalar(known) != survey.entries:
        raise WeighbeamError("journal_changed", "retention removed entries while the journal was read", "run it again")


class _WindowEntries:
    """The entries to play: those recorded up to the window's end, and weigh-ins that are made."""

    def __init__(self, survey: JournalSurvey, course: BacktestCourse) -> None:
        self._survey, self._course = survey, course
        self._maker = WeighInMaker(survey, course.weigh_every)
        self._met: dict[str, Mechanism] = {}
        self.began = False

    def walk(self, connection: Connection) -> Iterator[RecordedEntry]:
        course, window = self._course, self._course.window
        for entry in walk_entries(connection, self._survey.checkpoint, course.find, self._survey.last):
            if course.on_entry is not None:
                course.on_entry()
            if course.only not in (None, entry.name):
                continue
            if window.ends_before(entry.at):
                break
            self.began = self.began or window.begins(entry.ref, entry.at)
            self._met.setdefault(entry.name, entry.mechanism)
            yield from self._maker.list_due(entry, self.began)
            if entry.kind == "round":
                yield entry
                self._maker.note_round(entry)
            elif course.weigh_every is None:
                yield entry
            if window.ends_with(entry.ref):
                break
        yield from self._maker.list_missing()

    def stand(self, side: BacktestSide) -> dict[str, dict[str, float | None]]:
        """By mechanism, where everybody stands after the last entry."""
        last = self._maker.last
        return {
            name: side.stand(mechanism, last[name].at if name in last else 0.0) for name, mechanism in self._met.items()
        }


def _take(entry: RecordedEntry, sides: Sequence[BacktestSide]) -> tuple[tuple[Outcome, ...], str | None]:
    """The outcomes of each side; what a mechanism raises on recorded terms is a fault of that entry alone."""
    try:
        return (_take_round if entry.kind == "round" else _take_weigh_in)(entry, sides)
    except (WeighbeamError, SQLAlchemyError):
        raise
    except (Exception, SystemExit) as raised:
        return (), f"entry {entry.sequence}, {entry.ref}: recomputing it raised {describe_exception(raised)}"


def _take_round(entry: RecordedEntry, sides: Sequence[BacktestSide]) -> tuple[tuple[Outcome, ...], str | None]:
    first = sides[0].take_round(entry)
    with contain(entry.name, f"scoring {entry.ref} with other settings"):
        folded = [first, *(side.take_round(entry, first) for side in sides[1:])]
    fault = first.find_fault(entry)
    told = None if fault is None else f"entry {entry.sequence}, {entry.ref}: {fault}"
    return tuple(make_round_outcome(entry, one) for one in folded), told


def _take_weigh_in(entry: RecordedEntry, sides: Sequence[BacktestSide]) -> tuple[tuple[Outcome, ...], str | None]:
    folded = [sides[0].take_weigh_in(entry)]
    with contain(entry.name, "weighing with other settings"):
        folded += [side.take_weigh_in(entry) for side in sides[1:]]
    action = folded[0].decision.action if entry.decision is None else str(entry.decision["action"])
    for side, one in zip(sides, folded, strict=True):
        side.note_weigh_in(entry.name, one, action)
    fault = folded[0].find_fault(entry)
    told = None if fault is None else f"entry {entry.sequence}, weigh-in of {entry.name}: {fault}"
    return tuple(make_weigh_in_outcome(entry, one) for one in folded), told
