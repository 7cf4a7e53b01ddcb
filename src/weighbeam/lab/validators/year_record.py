"""A simulated year in a few numbers: how fair each day was, and what each kind of validator earned for its stake."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from weighbeam.core.errors import require
from weighbeam.core.stats import U16_MAX
from weighbeam.lab.trials.versions import Versions, note_versions
from weighbeam.lab.validators.crowd import draw_crowd
from weighbeam.lab.validators.fairness import Fairness, earn_per_stake, measure_fairness
from weighbeam.lab.validators.strategies import (
    ColludingValidator,
    CopyingValidator,
    HonestValidator,
    ValidatorSeat,
    ValidatorStrategy,
)
from weighbeam.lab.validators.year import YEAR_EPOCHS, Year, YearPlan, simulate_year

STAKE = 10**12
MAX_VALIDATORS, MAX_MINERS, MAX_EPOCHS = 256, 4096, 10 * YEAR_EPOCHS
SPREADS = (0.02, 0.15)
FAVOURED = 0.05
"""How many of the miners are the colluders' own."""


@dataclass(frozen=True, slots=True)
class ValidatorKind:
    """Validators that come by their weights in one way. `earned` is per stake, 1 being the average of all."""

    name: str
    validators: int
    earned: float
    trust: float


@dataclass(frozen=True, slots=True)
class YearRecord:
    """`days` in windows of a day; `settled` how well incentive follows skill over the last tenth of the time."""

    miners: int
    validators: int
    copiers: int
    colluders: int
    epochs: int
    seed: int
    kinds: tuple[ValidatorKind, ...]
    days: tuple[Fairness, ...]
    settled: float
    versions: Versions
    seconds: float


def run_year(
    validators: int = 64,
    miners: int = 256,
    copiers: int = 0,
    colluders: int = 0,
    epochs: int = YEAR_EPOCHS,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> YearRecord:
    """Validators of equal stake, the last of them copiers and colluders; the colluders favour the last miners."""
    check_size(validators, miners, copiers + colluders, epochs)
    require(seed >= 0, "bad_seeds", f"the seed is {seed}", "give 0 or more")
    start = time.monotonic()
    minds = list_minds(validators, miners, copiers, colluders)
    spreads = np.random.default_rng([seed, 3]).uniform(*SPREADS, validators).tolist()
    population = [ValidatorSeat(STAKE, mind, spread) for (_, mind), spread in zip(minds, spreads, strict=True)]
    crowd = draw_crowd(miners, np.random.default_rng([seed, 2]))
    year = simulate_year(crowd, population, seed, YearPlan(epochs=epochs), progress=progress)
    names = [name for name, _ in minds]
    days = tuple(measure_fairness(year))
    last = [day.tau or 0.0 for day in days[-max(1, len(days) // 10) :]]
    return YearRecord(
        miners, validators, copiers, colluders, epochs, seed,
        kinds=measure_kinds(year, names),
        days=days,
        settled=sum(last) / len(last),
        versions=note_versions(()),
        seconds=round(time.monotonic() - start, 1),
    )  # fmt: skip


def list_minds(validators: int, miners: int, copiers: int, colluders: int) -> list[tuple[str, ValidatorStrategy]]:
    """
    >>> [name for name, _ in list_minds(4, 100, 1, 1)]
    ['honest', 'honest', 'copying', 'colluding']
    """
    favoured = tuple(range(miners - max(1, round(FAVOURED * miners)), miners))
    honest: list[tuple[str, ValidatorStrategy]] = [("honest", HonestValidator())] * (validators - copiers - colluders)
    return [
        *honest,
        *[("copying", CopyingValidator())] * copiers,
        *[("colluding", ColludingValidator(favoured))] * colluders,
    ]


def check_size(validators: int, miners: int, dishonest: int, epochs: int) -> None:
    fits = 1 <= validators <= MAX_VALIDATORS and 2 <= miners <= MAX_MINERS and 1 <= epochs <= MAX_EPOCHS
    told = f"{validators} validators, {miners} miners, {epochs} epochs"
    most = f"keep to {MAX_VALIDATORS} validators, {MAX_MINERS} miners, {MAX_EPOCHS} epochs"
    require(fits, "bad_population", told, most)
    require(0 <= dishonest < validators, "bad_population", f"{dishonest} of {validators} are dishonest", "leave one")


def measure_kinds(year: Year, names: list[str]) -> tuple[ValidatorKind, ...]:
    """Average pay and trust of one kind of validator."""
    earned = earn_per_stake(year, [STAKE] * len(names))
    trust = year.trust.mean(axis=0) / U16_MAX
    kinds = []
    for name in dict.fromkeys(names):
        own = np.array([other == name for other in names])
        kinds.append(ValidatorKind(name, int(own.sum()), float(earned[own].mean()), float(trust[own].mean())))
    return tuple(kinds)
