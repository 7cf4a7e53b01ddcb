"""A whole backtest: look at the journal, refuse what it cannot tell, play both sides, compare."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from weighbeam import __version__
from weighbeam.lab.backtest.compare import Comparison, compare
from weighbeam.lab.backtest.outcome import Outcome
from weighbeam.lab.backtest.play import Course, Played, play
from weighbeam.lab.backtest.side import Side
from weighbeam.lab.backtest.support import Allowed, check_support, list_changes, list_reach
from weighbeam.lab.backtest.survey import Survey, Weighed, survey_journal
from weighbeam.lab.backtest.terms import AVERAGING, Terms
from weighbeam.lab.backtest.verdict import list_findings, tell_verdict
from weighbeam.lab.backtest.window import refuse_unmet
from weighbeam.store.database import Store

Elsewhere = Callable[[], Iterator[Outcome]]


@dataclass(frozen=True, slots=True)
class Backtest:
    """What was changed, what came of it, and what is to be kept in mind."""

    changes: tuple[str, ...]
    comparison: Comparison
    notes: tuple[str, ...] = field(default_factory=tuple)
    version: str | None = None

    def as_json(self) -> dict[str, Any]:
        compared = self.comparison.mechanisms.values()
        return {
            "weighbeam": __version__,
            "other": self.version,
            "changes": list(self.changes),
            "equal": self.comparison.is_equal,
            "journal_differs": self.comparison.faults,
            "from": self.comparison.first,
            "until": self.comparison.last,
            "notes": list(self.notes),
            "mechanisms": [
                {**one.as_json(), "verdict": tell_verdict(one), "findings": list_findings(one)} for one in compared
            ],
        }


def run_backtest(
    store: Store,
    terms: Terms,
    course: Course,
    allowed: Allowed | None = None,
    elsewhere: Elsewhere | None = None,
    version: str | None = None,
) -> Backtest:
    """Recorded terms beside `terms`; with `elsewhere`, beside what that version makes of them."""
    given = allowed or Allowed()
    survey = survey_journal(store, course.only, course.window)
    notes = check_support(survey, terms, course.find, course.window, given)
    notes += list_reach(survey, terms, course.find, course.weigh_every is not None)
    sides = [Side(Terms(), survey.start)] if elsewhere else [Side(Terms(), survey.start), Side(terms, survey.start)]
    played = play(store, survey, sides, course)
    if elsewhere is not None:
        played = _pair(played, elsewhere())
    comparison = compare(played, given.anyway)
    if not comparison.mechanisms:
        raise refuse_unmet(course.window)
    return Backtest(tuple(_tell_changes(survey, terms, course)), comparison, tuple(notes), version)


def _pair(played: Iterator[Played], others: Iterator[Outcome]) -> Iterator[Played]:
    """What is computed here beside what is computed there; one that ends early is told by what stands beside it, one
    that fails in the end when it is asked once more."""
    for one in played:
        other = next(others, None) if one.counts else None
        if one.counts and other is not None:
            yield Played((one.outcomes[0], other), one.fault)
        else:
            yield Played(one.outcomes, one.fault, counts=False)
    next(others, None)


def _tell_changes(survey: Survey, terms: Terms, course: Course) -> Iterator[str]:
    changed = [change for _, _, change in list_changes(survey, terms, course.find)]
    yield from map(str, changed)
    named = {change.name for change in changed}
    for name, value in terms.as_settings():
        scope, _, inner = name.partition(".")
        if scope == "weigh_in":
            before = sorted({_find_recorded(one, inner) for held in survey.held.values() for one in held.weighed})
            yield f"{name} {' or '.join(before) or 'unset'} → {value}"
        elif name not in named:
            yield f"{name} {value}, as recorded"


def _find_recorded(weighed: Weighed, name: str) -> str:
    return str(getattr(weighed.averaging if name in AVERAGING else weighed.limits, name))
