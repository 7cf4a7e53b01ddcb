"""A whole backtest: look at the journal, refuse what it cannot tell, play both sides, compare."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from weighbeam import __version__
from weighbeam.lab.backtest.compare import Comparison, compare
from weighbeam.lab.backtest.outcome import Outcome
from weighbeam.lab.backtest.overrides import AVERAGING, BacktestOverrides
from weighbeam.lab.backtest.play import BacktestCourse, PlayedEntry, play
from weighbeam.lab.backtest.side import RECORDED, BacktestSide
from weighbeam.lab.backtest.support import AllowedDifferences, check_support, list_changes, list_reach
from weighbeam.lab.backtest.survey import JournalSurvey, SurveyedWeighIn, survey_journal
from weighbeam.lab.backtest.verdict import describe_verdict, list_findings
from weighbeam.lab.backtest.window import refuse_unmet
from weighbeam.mechanism.untrusted import format_html_table, put_on_one_line
from weighbeam.store.database import Store

Elsewhere = Callable[[], Iterator[Outcome]]
MAX_REPR = 200


@dataclass(frozen=True, slots=True, repr=False)
class Backtest:
    """Changes of a backtest, their effects, and notes. A notebook shows it as a table."""

    changes: tuple[str, ...]
    comparison: Comparison
    notes: tuple[str, ...] = field(default_factory=tuple)
    version: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The JSON of `weighbeam lab backtest --json`."""
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
                {**one.as_json(), "verdict": describe_verdict(one), "findings": list_findings(one)} for one in compared
            ],
        }

    def __repr__(self) -> str:
        changed = put_on_one_line(", ".join(self.changes))[:MAX_REPR] or "nothing changed"
        names = ", ".join(self.comparison.mechanisms)
        return f"<Backtest of {names}: {changed}, {'equal' if self.comparison.is_equal else 'differs'}>"

    def _repr_html_(self) -> str:
        """A table for a notebook: one verdict per mechanism. Each cell is escaped."""
        rows = [(name, describe_verdict(one)) for name, one in self.comparison.mechanisms.items()]
        return format_html_table(f"backtest: {', '.join(self.changes)}", ("mechanism", "verdict"), rows)


def run_backtest(
    store: Store,
    terms: BacktestOverrides,
    course: BacktestCourse,
    allowed: AllowedDifferences | None = None,
    elsewhere: Elsewhere | None = None,
    version: str | None = None,
) -> Backtest:
    """Recorded terms beside `terms`; with `elsewhere`, beside what that version makes of them."""
    given = allowed or AllowedDifferences()
    survey = survey_journal(store, course.only, course.window)
    notes = check_support(survey, terms, course.find, course.window, given)
    notes += list_reach(survey, terms, course.find, course.weigh_every is not None)
    sides = [BacktestSide(one, survey.start) for one in ([RECORDED] if elsewhere else [RECORDED, terms])]
    played = play(store, survey, sides, course)
    if elsewhere is not None:
        played = _pair(played, elsewhere())
    comparison = compare(played, given.anyway)
    if not comparison.mechanisms:
        raise refuse_unmet(course.window)
    return Backtest(tuple(_describe_changes(survey, terms, course)), comparison, tuple(notes), version)


def _pair(played: Iterator[PlayedEntry], others: Iterator[Outcome]) -> Iterator[PlayedEntry]:
    """Pair outcomes of both sides; a side that ends early shows by its missing partner, one
    that fails at the end by one more read."""
    for one in played:
        other = next(others, None) if one.counts else None
        if one.counts and other is not None and one.outcomes:
            yield PlayedEntry((one.outcomes[0], other), one.fault)
        else:
            yield PlayedEntry(one.outcomes, one.fault, counts=False)
    next(others, None)


def _describe_changes(survey: JournalSurvey, terms: BacktestOverrides, course: BacktestCourse) -> Iterator[str]:
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


def _find_recorded(weighed: SurveyedWeighIn, name: str) -> str:
    return str(getattr(weighed.averaging if name in AVERAGING else weighed.limits, name))
