"""How fair a season was: who is paid beside who is good, how concentrated pay is, what validators earn per stake."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.stats import U16_MAX, gini, kendall_tau, top_share
from weighbeam.lab.validators.year import DAY_EPOCHS, Year

TOP = 10


@dataclass(frozen=True, slots=True)
class Fairness:
    """One window of epochs, its pay averaged. `tau` is Kendall's between true skill and incentive, None where one of
    them orders nothing; `top` what the ten best paid have of everything; `trust` the mean over validators."""

    first: int
    stop: int
    tau: float | None
    gini: float
    top: float
    paid: int
    trust: float


def measure_fairness(year: Year, every: int = DAY_EPOCHS) -> list[Fairness]:
    """Windows of `every` epochs, a day by default; the last may be shorter."""
    return [_measure(year, first, min(first + every, len(year.incentive))) for first in starts(year, every)]


def starts(year: Year, every: int) -> range:
    return range(0, len(year.incentive), every)


def _measure(year: Year, first: int, stop: int) -> Fairness:
    pay = year.incentive[first:stop].mean(axis=0).tolist()
    return Fairness(
        first=first,
        stop=stop,
        tau=kendall_tau(year.skill[first:stop].mean(axis=0).tolist(), pay),
        gini=gini(pay),
        top=top_share(pay, TOP),
        paid=sum(amount > 0 for amount in pay),
        trust=float(year.trust[first:stop].mean() / U16_MAX),
    )


def earn_per_stake(year: Year, stake: Sequence[int], first: int = 0) -> NDArray[np.float64]:
    """The dividends of each validator from epoch `first` on, per stake: 1 is what all earn on average."""
    paid = year.dividends[first:].sum(axis=0, dtype=np.float64)
    held = np.array(stake, dtype=np.float64)
    earned: NDArray[np.float64] = (paid / paid.sum()) / (held / held.sum())
    return earned
