"""How far back later weigh-ins look, so that older emissions can be dropped on the way."""

from collections import Counter
from collections.abc import Sequence

from weighbeam.engine.journal.fold import RecordedEntry
from weighbeam.engine.rules.constants import Averaging
from weighbeam.lab.backtest.side import BacktestSide
from weighbeam.lab.backtest.survey import JournalSurvey

HOUR = 3600.0
OFTEN = 200
"""Rounds without a weigh-in after which something may have become too old."""


class EmissionHorizon:
    """Forgets what neither side needs any more; exact, whatever the clock did."""

    def __init__(self, survey: JournalSurvey, sides: Sequence[BacktestSide], weigh_every: float | None) -> None:
        self._sides, self._survey = sides, survey
        self._made = weigh_every is not None
        self._unweighed = set() if self._made else set(survey.unweighed)
        recorded = [one.averaging for one in survey.list_weighed()]
        if self._made or self._unweighed or not recorded:
            recorded.append(Averaging())
        self._hours = max(_look_back(side.terms.set_averaging(one)) for side in sides for one in recorded)
        self._later = {name: _find_later([one.at for one in held.weighed]) for name, held in survey.held.items()}
        self._rounds, self._weigh_ins = Counter[str](), Counter[str]()

    def note(self, entry: RecordedEntry) -> None:
        """After an entry. Where the journal holds no weigh-in, the only one is at the end."""
        name = entry.name
        if entry.kind != "round":
            self._weigh_ins[name] += 1
            later, place = self._later.get(name, []), self._weigh_ins[name]
            self._forget(name, entry.weighing.now if self._made or place >= len(later) else later[place])
            return
        self._rounds[name] += 1
        last = self._survey.held[name].last if name in self._unweighed else None
        if last is not None and self._rounds[name] % OFTEN == 0:
            self._forget(name, last)

    def _forget(self, mechanism: str, needed_from: float) -> None:
        for side in self._sides:
            if mechanism in side.reached:
                side.reached[mechanism].forget_before(needed_from - self._hours * HOUR)


def _look_back(averaging: Averaging) -> float:
    return max(averaging.ema_lookback_hours, averaging.db_retention_hours)


def _find_later(times: Sequence[float]) -> list[float]:
    """For each weigh-in the earliest time of it and all after it.

    >>> _find_later([1.0, 9.0, 5.0])
    [1.0, 5.0, 5.0]
    """
    found: list[float] = []
    for at in reversed(times):
        found.append(min(at, found[-1]) if found else at)
    return found[::-1]
