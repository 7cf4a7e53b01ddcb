"""Two sides of a journal, entry by entry, into one comparison per mechanism."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.backtest.outcome import FinalStandings, Outcome, RoundOutcome, WeighInOutcome
from weighbeam.lab.backtest.play import PlayedEntry
from weighbeam.lab.backtest.rounds import RoundTally
from weighbeam.lab.backtest.shares import MinerShares, correlate, list_miners, measure_concentration
from weighbeam.lab.backtest.weigh_ins import WeighTally

Standings = Mapping[str, float | None]


@dataclass(slots=True)
class MechanismComparison:
    """One mechanism on both sides."""

    mechanism: str
    rounds: RoundTally = field(default_factory=RoundTally)
    weigh_ins: WeighTally = field(default_factory=WeighTally)
    standings: tuple[Standings, Standings] = field(default_factory=lambda: ({}, {}))

    @property
    def is_equal(self) -> bool:
        """To the bit, in everything."""
        return not self.rounds.differ and not self.weigh_ins.differ and self.standings[0] == self.standings[1]

    def list_miners(self) -> list[MinerShares]:
        return list_miners(self.weigh_ins)

    def correlate(self) -> dict[str, dict[str, float | None]]:
        miners = self.list_miners()
        before, after = {one.hotkey: one.before for one in miners}, {one.hotkey: one.after for one in miners}
        return {"standings": correlate(*self.standings), "weights": correlate(before, after)}

    def concentrate(self) -> dict[str, dict[str, float]]:
        """Of the mean shares of those who were eligible."""
        miners = self.list_miners()
        return {
            "before": measure_concentration([one.before for one in miners]),
            "after": measure_concentration([one.after for one in miners]),
        }

    def as_json(self) -> dict[str, Any]:
        return {
            "mechanism": self.mechanism,
            "equal": self.is_equal,
            "rounds": self.rounds.as_json(),
            "weigh_ins": self.weigh_ins.as_json(),
            "miners": [one.as_json() for one in self.list_miners()],
            "correlation": self.correlate(),
            "concentration": self.concentrate(),
            "burnt": dict(zip(("before", "after"), self.burn(), strict=True)),
        }

    def burn(self) -> tuple[float, float]:
        """The mean shares that are burnt."""
        tally = self.weigh_ins
        count = max(1, tally.counted)
        return tally.before.burnt / count, tally.after.burnt / count


@dataclass(slots=True)
class Comparison:
    """Every mechanism of the journal, and where the recorded side is not what the journal holds."""

    mechanisms: dict[str, MechanismComparison] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    first: float | None = None
    last: float | None = None
    _in_force: dict[str, WeighInOutcome] = field(default_factory=dict)

    @property
    def is_equal(self) -> bool:
        return all(one.is_equal for one in self.mechanisms.values())

    def note(self, before: Outcome, after: Outcome) -> None:
        _check_same(before, after)
        if isinstance(before, FinalStandings) and isinstance(after, FinalStandings):
            for name in before.standings:
                self._find(name).standings = (before.standings[name], after.standings.get(name, {}))
        elif isinstance(before, RoundOutcome) and isinstance(after, RoundOutcome):
            self._find(before.mechanism).rounds.note(before, after)
            self._note_time(before.at)
        elif isinstance(before, WeighInOutcome) and isinstance(after, WeighInOutcome):
            self._find(before.mechanism).weigh_ins.note(before, after)
            self._note_time(before.at)

    def begin(self, before: Outcome) -> None:
        """An entry before the part that is compared: on both sides, weights it sets are in force."""
        if isinstance(before, WeighInOutcome) and before.action == "submit":
            self._in_force[before.mechanism] = before

    def _note_time(self, at: float) -> None:
        self.first = at if self.first is None else min(self.first, at)
        self.last = at if self.last is None else max(self.last, at)

    def _find(self, name: str) -> MechanismComparison:
        if name not in self.mechanisms:
            found = self.mechanisms[name] = MechanismComparison(name)
            if name in self._in_force:
                found.weigh_ins.before.begin(self._in_force[name])
                found.weigh_ins.after.begin(self._in_force[name])
        return self.mechanisms[name]


def compare(played: Iterable[PlayedEntry], anyway: bool = False) -> Comparison:
    """Compare both sides; `journal_differs` at the first entry that does not replay, unless differences are allowed."""
    comparison = Comparison()
    for one in played:
        if one.fault is not None:
            if not anyway:
                raise refuse_fault(one.fault)
            comparison.faults.append(one.fault)
        if not one.outcomes:
            continue
        if one.counts:
            comparison.note(one.outcomes[0], one.outcomes[-1])
        else:
            comparison.begin(one.outcomes[0])
    return comparison


def refuse_fault(fault: str) -> WeighbeamError:
    remedy = "see weighbeam replay; --force continues with what this version makes of it"
    return WeighbeamError("journal_differs", fault, remedy)


def _check_same(before: Outcome, after: Outcome) -> None:
    if _name(before) != _name(after):
        told = f"the two sides are not of the same journal: {_name(before)} is beside {_name(after)}"
        raise WeighbeamError("other_journal", told, "compare what two versions make of one journal")


def _name(outcome: Outcome) -> str:
    return "the end" if isinstance(outcome, FinalStandings) else f"entry {outcome.sequence}, {outcome.ref}"
