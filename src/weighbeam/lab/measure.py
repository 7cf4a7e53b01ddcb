"""What an attack is worth: profit beside honest work, how often it shows, how often honest miners look like it.

An identity is *found out* once three of its first twenty turns carry a sign against it: a rule that an operator can
follow, and the same for everybody. Intervals of 95 % are over seeds, since within a season everything hangs together.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from weighbeam.core.correlation import kendall_tau

TURNS = 20
SIGNS = 3
DRAWS = 2000
WIDTH = 0.95
NORMAL = 1.959964
NEXT_TO_NOTHING = 0.1
Verdict = Literal["closed", "loses", "unclear", "pays"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One seeded season of an attack.

    `fair` is what an honest identity earns on average where nobody attacks. `signs` says in which of its own turns
    (0 is the first) something was held against an identity; `turns` how often it was asked. `standing` is turned so
    that higher is better.
    """

    seed: int
    earned: Mapping[str, float]
    attackers: frozenset[str]
    honest: frozenset[str]
    fair: float
    signs: Mapping[str, tuple[int, ...]]
    turns: Mapping[str, int]
    skill: Mapping[str, float]
    standing: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and where it lies in 95 of 100 cases."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """An attack over all seeds. `profit` is per identity, 1 being what honest work earns on average; `taken` the share
    of all pay that went to attackers. `tau` is Kendall's, between the skill of the honest and where they stand."""

    profit: Interval
    taken: Interval
    detection: Interval
    false_positives: Interval
    tau: Interval
    seeds: tuple[int, ...]

    @property
    def verdict(self) -> Verdict:
        return judge_profit(self.profit)


def judge_profit(profit: Interval) -> Verdict:
    """closed: at most a tenth of what honest work earns; loses: surely less; pays: surely more; else unclear.

    >>> judge_profit(Interval(0.0, 0.0, 0.05)), judge_profit(Interval(1.2, 0.9, 1.5))
    ('closed', 'unclear')
    """
    if profit.high <= NEXT_TO_NOTHING:
        return "closed"
    if profit.high < 1:
        return "loses"
    return "pays" if profit.low > 1 else "unclear"


def is_found_out(signs: Sequence[int]) -> bool:
    """
    >>> is_found_out([0, 7, 19]), is_found_out([0, 7, 20, 21])
    (True, False)
    """
    return sum(turn < TURNS for turn in signs) >= SIGNS


def measure(trials: Sequence[Trial]) -> Outcome:
    """All trials of one attack as one result."""
    earned = [_sum(trial.earned, trial.attackers) for trial in trials]
    return Outcome(
        profit=resample(earned, [trial.fair * len(trial.attackers) for trial in trials]),
        taken=resample(earned, [sum(trial.earned.values()) for trial in trials]),
        detection=_find_out([(trial, trial.attackers) for trial in trials]),
        false_positives=_find_out([(trial, trial.honest) for trial in trials]),
        tau=resample([kendall(trial) for trial in trials], [1.0] * len(trials)),
        seeds=tuple(trial.seed for trial in trials),
    )


def estimate_share(share: float, count: int) -> Interval:
    """Wilson's interval of a share seen in `count` independent cases; it has a width where all cases agree, too.

    >>> estimate_share(1.0, 12)
    Interval(value=1.0, low=0.757506, high=1.0)
    """
    square = NORMAL * NORMAL / count
    middle = (share + square / 2) / (1 + square)
    half = NORMAL * math.sqrt(share * (1 - share) / count + square / (4 * count)) / (1 + square)
    return Interval(share, round(max(0.0, middle - half), 6), round(min(1.0, middle + half), 6))


def resample(above: Sequence[float], below: Sequence[float]) -> Interval:
    """The ratio of two sums over seeds, and the percentiles it has when seeds are drawn again with replacement.

    >>> resample([1.0, 3.0], [2.0, 2.0])
    Interval(value=1.0, low=0.5, high=1.5)
    """
    top, bottom = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    drawn = np.random.default_rng(0).integers(len(top), size=(DRAWS, len(top)))
    sums = bottom[drawn].sum(axis=1)
    ratios = top[drawn].sum(axis=1)[sums > 0] / sums[sums > 0]
    if not bottom.sum() or not len(ratios):
        return Interval(0.0, 0.0, 0.0)
    edge = 100 * (1 - WIDTH) / 2
    low, high = np.percentile(ratios, [edge, 100 - edge])
    return Interval(float(top.sum() / bottom.sum()), float(low), float(high))


def kendall(trial: Trial) -> float:
    """Kendall's tau-b between skill and standing, over the honest who have both; 0 if all are equal in either."""
    names = sorted(trial.skill.keys() & trial.standing.keys())
    return kendall_tau([trial.skill[name] for name in names], [trial.standing[name] for name in names]) or 0.0


def _find_out(seen: Sequence[tuple[Trial, frozenset[str]]]) -> Interval:
    """How many are found out; as sure of it as there are seeds."""
    total = sum(len(names) for _, names in seen)
    found = sum(is_found_out(trial.signs.get(name, ())) for trial, names in seen for name in names)
    return estimate_share(found / total if total else 0.0, len(seen))


def _sum(earned: Mapping[str, float], names: frozenset[str]) -> float:
    return sum(earned[name] for name in sorted(names))
