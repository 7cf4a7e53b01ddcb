"""Value of an attack: profit relative to honest work, how often it shows, how often honest miners look like it.

An identity is *found out* once three of its first twenty turns carry a sign against it: a rule that an operator can
follow, and the same for everybody. Intervals of 95 % are over seeds, since within a season everything
hangs together.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from weighbeam.core.stats import kendall_tau

TURNS = 20
SIGNS = 3
NORMAL = 1.959964
STUDENT = dict(
    enumerate(
        map(
            float,
            """
            12.7062 4.3027 3.1824 2.7764 2.5706 2.4469 2.3646 2.3060 2.2622 2.2281 2.2010 2.1788 2.1604 2.1448 2.1314
            2.1199 2.1098 2.1009 2.0930 2.0860 2.0796 2.0739 2.0687 2.0639 2.0595 2.0555 2.0518 2.0484 2.0452 2.0423
            """.split(),
        ),
        start=1,
    )
)
"""Quantiles for intervals of 95 %, by degrees of freedom."""
MAX_RATIO = 1000.0
NEXT_TO_NOTHING = 0.1
Verdict = Literal["closed", "loses", "unclear", "pays"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One seeded season of an attack.

    `fair` is what an honest identity earns on average where nobody attacks; of weights, which are shares of a whole,
    that is the average of all. `signs` says in which turns of a hotkey (0 is the first) something was held against it;
    `turns` how often an identity was asked. `standing` is turned so that higher is better.
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
class AttackOutcome:
    """An attack over all seeds. `profit` is per identity, 1 being what honest work earns on average; `taken` the share
    of all pay that went to attackers. `tau` is Kendall's, between the skill of the honest and where they stand. `turns`
    says how many of its first twenty an attacker had on average, `unpaid` in which share of seasons nobody was paid."""

    profit: Interval
    taken: Interval
    detection: Interval
    false_positives: Interval
    tau: Interval
    seeds: tuple[int, ...]
    turns: float = float(TURNS)
    unpaid: float = 0.0

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


def measure(trials: Sequence[Trial]) -> AttackOutcome:
    """All trials of one attack as one result."""
    earned = [_sum(trial.earned, trial.attackers) for trial in trials]
    return AttackOutcome(
        profit=estimate_ratio(earned, [trial.fair * len(trial.attackers) for trial in trials]),
        taken=estimate_ratio(earned, [sum(trial.earned.values()) for trial in trials], upper=1.0),
        detection=_find_out([(trial, trial.attackers) for trial in trials]),
        false_positives=_find_out([(trial, trial.honest) for trial in trials]),
        tau=estimate_tau(trials),
        seeds=tuple(trial.seed for trial in trials),
        turns=count_turns(trials),
        unpaid=count_unpaid(trials),
    )


def estimate_tau(trials: Sequence[Trial]) -> Interval:
    return estimate_ratio([kendall(trial) for trial in trials], [1.0] * len(trials), lower=-1.0, upper=1.0)


def count_turns(trials: Sequence[Trial]) -> float:
    """How many of its first twenty turns an attacker had, on average."""
    had = [min(TURNS, trial.turns.get(name, 0)) for trial in trials for name in sorted(trial.attackers)]
    return sum(had) / len(had) if had else 0.0


def count_unpaid(trials: Sequence[Trial]) -> float:
    """The share of seasons in which nobody was paid anything."""
    return sum(not any(trial.earned.values()) for trial in trials) / len(trials)


def estimate_share(share: float, count: int) -> Interval:
    """Wilson's interval of a share seen in `count` independent cases; it has a width where all cases agree, too.

    >>> estimate_share(1.0, 12)
    Interval(value=1.0, low=0.757506, high=1.0)
    """
    square = NORMAL * NORMAL / count
    middle = (share + square / 2) / (1 + square)
    half = NORMAL * math.sqrt(share * (1 - share) / count + square / (4 * count)) / (1 + square)
    return Interval(share, round(max(0.0, middle - half), 6), round(min(1.0, middle + half), 6))


def estimate_ratio(
    above: Sequence[float], below: Sequence[float], lower: float = 0.0, upper: float = MAX_RATIO
) -> Interval:
    """The ratio of two sums over seeds and its interval by Student's t; a single seed says nothing about its width.

    Something for nothing is as much as can be; nothing for nothing is unknown.

    >>> found = estimate_ratio([1.0, 2.0, 3.0], [2.0, 2.0, 2.0])
    >>> found.value, found.low, round(found.high, 3)
    (1.0, 0.0, 2.242)
    >>> estimate_ratio([1.0], [2.0]), estimate_ratio([0.0], [0.0])
    (Interval(value=0.5, low=0.0, high=1000.0), Interval(value=0.0, low=0.0, high=1000.0))
    """
    top, bottom, count = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64), len(above)
    if not bottom.sum():
        return Interval(upper, upper, upper) if top.sum() > 0 else Interval(0.0, lower, upper)
    value = float(top.sum() / bottom.sum())
    if count < 2:
        return Interval(value, lower, upper)
    scatter = float(((top - value * bottom) ** 2).sum()) / (count - 1) / count
    half = STUDENT.get(count - 1, NORMAL) * math.sqrt(scatter) / float(bottom.mean())
    return Interval(value, max(lower, value - half), min(upper, value + half))


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
