"""How far back later weigh-ins look, so that older emissions can be forgotten on the way."""

from collections.abc import Sequence

from weighbeam.engine.weigh_in.constants import Averaging
from weighbeam.lab.backtest.side import Side
from weighbeam.lab.backtest.survey import Survey

HOUR = 3600.0
OFTEN = 200
"""Rounds without a weigh-in after which something may have become too old."""


class Recall:
    """Forgets what neither side needs any more; exact, whatever the clock did."""

    def __init__(self, survey: Survey, sides: Sequence[Side], weigh_every: float | None) -> None:
        self._sides, self._survey = sides, survey
        self._made = weigh_every is not None
        self._rounds: dict[str, int] = {}
        self._hours = max(
            _look_back(side.terms.set_averaging(averaging)) for side in sides for averaging in self._list_averaging()
        )
        self._later = {name: _find_later([one.at for one in held.weighed]) for name, held in survey.held.items()}
        self._place = dict.fromkeys(survey.held, 0)

    @property
    def unweighed(self) -> set[str]:
        """Mechanisms with rounds that the journal never weighs; if weigh-ins are made anyhow, none."""
        held = self._survey.held
        return set() if self._made else {name for name, one in held.items() if one.rounds and not one.weighed}

    def after_weigh_in(self, mechanism: str, now: float) -> None:
        later = self._later.get(mechanism, [])
        place = self._place[mechanism] = self._place.get(mechanism, 0) + 1
        self._forget(mechanism, now if self._made or place >= len(later) else later[place])

    def after_round(self, mechanism: str) -> None:
        """Where the journal holds no weigh-in, the only one is at the end."""
        count = self._rounds[mechanism] = self._rounds.get(mechanism, 0) + 1
        held = self._survey.held.get(mechanism)
        if held is not None and held.last is not None and mechanism in self.unweighed and count % OFTEN == 0:
            self._forget(mechanism, held.last)

    def _forget(self, mechanism: str, needed_from: float) -> None:
        for side in self._sides:
            side.forget_before(mechanism, needed_from - self._hours * HOUR)

    def _list_averaging(self) -> list[Averaging]:
        found = [one.averaging for one in self._survey.list_weighed()]
        return found if found and not self.unweighed and not self._made else [*found, Averaging()]


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
