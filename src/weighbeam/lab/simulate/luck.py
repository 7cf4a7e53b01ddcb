"""How much of a ranking is luck: what each miner earns over seeds, and how far the seeds agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median

from weighbeam.core.stats import kendall_tau
from weighbeam.lab.simulate.measure import Interval, Trial, estimate_ratio


@dataclass(frozen=True, slots=True)
class MinerLuck:
    """One miner over all seeds: its share of all pay, and the places it came in, 1 being the best paid."""

    name: str
    share: Interval
    place: float
    best: int
    worst: int


@dataclass(frozen=True, slots=True)
class Luck:
    """`agreement` is the mean of Kendall's tau between what any two seeds pay; None where they cannot be compared."""

    lots: tuple[MinerLuck, ...]
    agreement: float | None


def weigh_luck(trials: Sequence[Trial]) -> Luck:
    """Best paid first."""
    names = sorted(trials[0].earned)
    totals = [sum(trial.earned.values()) for trial in trials]
    places = [_place(trial) for trial in trials]
    lots = []
    for name in names:
        came = [place[name] for place in places]
        share = estimate_ratio([trial.earned[name] for trial in trials], totals, upper=1.0)
        lots.append(MinerLuck(name, share, median(came), min(came), max(came)))
    paid = [[trial.earned[name] for name in names] for trial in trials]
    taus = [tau for one, other in combinations(paid, 2) if (tau := kendall_tau(one, other)) is not None]
    ordered = sorted(lots, key=lambda lot: (-lot.share.value, lot.name))
    return Luck(tuple(ordered), fmean(taus) if taus else None)


def _place(trial: Trial) -> dict[str, int]:
    ordered = sorted(trial.earned, key=lambda name: (-trial.earned[name], name))
    return {name: place for place, name in enumerate(ordered, 1)}
