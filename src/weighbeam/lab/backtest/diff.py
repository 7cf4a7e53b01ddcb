"""Compare two versions on the same journal: equal to the bit, or the differences and the first place."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from weighbeam.lab.backtest.outcome import FinalStandings, Outcome, RoundOutcome, WeighInOutcome

Floats = Mapping[str, float | None]


@dataclass(slots=True)
class Difference:
    """How many entries there are and how many differ, by what: scores, standings, weights, decisions."""

    entries: int = 0
    differ: Counter[str] = field(default_factory=Counter)
    largest: dict[str, float] = field(default_factory=dict)
    first: str | None = None

    @property
    def is_equal(self) -> bool:
        return not self.differ

    def note(self, what: str, where: str, size: float = 0.0) -> None:
        self.differ[what] += 1
        self.largest[what] = max(self.largest.get(what, 0.0), size)
        self.first = self.first or f"{what} of {where}"

    def as_json(self) -> dict[str, Any]:
        return {
            "equal": self.is_equal,
            "entries": self.entries,
            "differ": dict(self.differ),
            "largest": self.largest,
            "first": self.first,
        }


def find_difference(old: Iterator[Outcome], new: Iterator[Outcome]) -> Difference:
    """Entry by entry, of journals of any length."""
    found = Difference()
    for one, other in zip_longest(old, new):
        found.entries += not isinstance(one, FinalStandings)
        if one is None or other is None or _name(one) != _name(other):
            found.note("entries", _name(one or other))
            break
        _compare(found, one, other)
    return found


def _compare(found: Difference, one: Outcome, other: Outcome) -> None:
    if isinstance(one, RoundOutcome) and isinstance(other, RoundOutcome):
        _compare_rounds(found, one, other)
    elif isinstance(one, WeighInOutcome) and isinstance(other, WeighInOutcome):
        _compare_weigh_ins(found, one, other)
    elif isinstance(one, FinalStandings) and isinstance(other, FinalStandings):
        for name in sorted(one.standings.keys() | other.standings.keys()):
            before, after = one.standings.get(name, {}), other.standings.get(name, {})
            if before != after:
                found.note("standings", f"{name} in the end", _measure(before, after))


def _compare_rounds(found: Difference, one: RoundOutcome, other: RoundOutcome) -> None:
    if one.results != other.results:
        before, after = ({row.hotkey: row.value for row in side.results} for side in (one, other))
        found.note("scores", _name(one), _measure(before, after))
    elif one.digest != other.digest:
        found.note("parts or standings", _name(one))


def _compare_weigh_ins(found: Difference, one: WeighInOutcome, other: WeighInOutcome) -> None:
    if (one.action, one.reason, one.mode) != (other.action, other.reason, other.mode):
        found.note("decisions", _name(one))
    elif one.shares != other.shares or one.digest != other.digest:
        found.note("weights", _name(one), _measure(one.shares, other.shares))


def _measure(one: Floats, other: Floats) -> float:
    """The largest difference; a value that only one side has counts as a whole."""
    pairs = ((one.get(hotkey), other.get(hotkey)) for hotkey in one.keys() | other.keys())
    return max((abs((a or 0.0) - (b or 0.0)) for a, b in pairs), default=0.0)


def _name(outcome: Outcome | None) -> str:
    if outcome is None or isinstance(outcome, FinalStandings):
        return "the end"
    return f"entry {outcome.sequence}, {outcome.mechanism} {outcome.ref}"
