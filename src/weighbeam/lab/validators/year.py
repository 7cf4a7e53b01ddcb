"""A season of many validators over many miners, epoch by epoch, up to years: who is paid what, and how fairly.

Each working validator runs the mechanism's tournament with its own draws and its own noise and weighs as the engine
does; every tempo of 360 blocks the exact Yuma epoch pays. Everything follows from the seed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.engine.rules.constants import BLOCK_SECONDS, CHALLENGE_INTERVAL_SECONDS
from weighbeam.lab.validators.chain import LabChain
from weighbeam.lab.validators.crowd import Crowd
from weighbeam.lab.validators.strategies import Units, ValidatorSeat
from weighbeam.lab.validators.workers import ValidatorWorkers
from weighbeam.mechanism.defaults import DEFAULT_MECHANISM
from weighbeam.mechanism.params import Params, make_params
from weighbeam.mechanism.registry import load_mechanism

Floats = NDArray[np.float64]
YEAR_EPOCHS = 7300
DAY_EPOCHS = 20
PULL = 0.05
"""How much of a skill's wandering is taken back per epoch: most of it within a day."""


@dataclass(frozen=True, slots=True)
class YearPlan:
    """Plan of a season. `replaced_per_day` miners are pushed out by newcomers, the worst paid first."""

    epochs: int = YEAR_EPOCHS
    mechanism: str = DEFAULT_MECHANISM
    params: Params | None = None
    rules: SubnetParameters = field(default_factory=lambda: SubnetParameters(yuma3=True))
    round_seconds: float = CHALLENGE_INTERVAL_SECONDS
    replaced_per_day: float = 0.0


@dataclass(frozen=True, slots=True)
class Year:
    """Results of every epoch as u16 shares: incentive, consensus and true skill [epochs, miners], dividends, trust
    [epochs, validators], and the rows that were submitted [epochs, validators, miners] if they were kept."""

    incentive: NDArray[np.uint16]
    consensus: NDArray[np.uint16]
    dividends: NDArray[np.uint16]
    trust: NDArray[np.uint16]
    skill: NDArray[np.float32]
    rows: NDArray[np.uint16] | None = None


def simulate_year(
    crowd: Crowd,
    validators: Sequence[ValidatorSeat],
    seed: int,
    plan: YearPlan | None = None,
    keep_rows: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Year:
    """Play `plan.epochs` epochs; `progress` is called after each epoch.

    >>> from weighbeam.lab.validators.crowd import draw_crowd
    >>> from weighbeam.lab.validators.strategies import HonestValidator
    >>> crowd, validators = draw_crowd(30, np.random.default_rng(1)), [ValidatorSeat(10**12, HonestValidator())] * 3
    >>> year = simulate_year(crowd, validators, seed=1, plan=YearPlan(epochs=4))
    >>> year.incentive.shape, year.dividends.shape, bool(year.incentive[-1].any())
    ((4, 30), (4, 3), True)
    """
    plan = plan or YearPlan()
    chance = np.random.default_rng(seed)
    mechanism = load_mechanism(plan.mechanism)
    workers = ValidatorWorkers(crowd, validators, mechanism, plan.params or make_params(mechanism, {}), seed)
    chain = LabChain([validator.stake for validator in validators], len(crowd), plan.rules)
    year = _blank(plan.epochs, len(validators), len(crowd), keep_rows)
    past: list[Units] = []
    skill = crowd.skill.copy()
    tempo_seconds = plan.rules.tempo * BLOCK_SECONDS
    for epoch in range(plan.epochs):
        now = (epoch + 1) * tempo_seconds
        workers.work(skill, now - tempo_seconds, now, plan.round_seconds)
        rows = workers.write(now, past)
        chain.submit(rows)
        decided = chain.step()
        past.append(decided.consensus[len(validators) :])
        year.incentive[epoch] = decided.incentive[len(validators) :]
        year.consensus[epoch] = past[-1]
        year.dividends[epoch] = decided.dividends[: len(validators)]
        year.trust[epoch] = decided.validator_trust[: len(validators)]
        year.skill[epoch] = skill
        if year.rows is not None:
            year.rows[epoch] = rows
        gone = _replace(chain, year.incentive[epoch], plan, chance)
        skill = crowd.move(skill, chance, PULL)
        if len(gone):
            crowd = crowd.renew(gone, chance)
            skill[gone] = crowd.skill[gone]
            workers.forget(crowd, gone)
        if progress is not None:
            progress(epoch)
    return year


def _replace(
    chain: LabChain, incentive: NDArray[np.uint16], plan: YearPlan, chance: np.random.Generator
) -> NDArray[np.intp]:
    """Choose the miners to replace before the next epoch: the worst paid of those past their immunity."""
    if not plan.replaced_per_day:
        return np.empty(0, dtype=np.intp)
    count = int(chance.poisson(plan.replaced_per_day / DAY_EPOCHS))
    pay = np.where(chain.find_mortal(), incentive.astype(np.float64), np.inf)
    gone = np.argsort(pay, kind="stable")[:count]
    gone = gone[np.isfinite(pay[gone])]
    chain.replace(gone)
    return gone


def _blank(epochs: int, validators: int, miners: int, keep_rows: bool) -> Year:
    return Year(
        incentive=np.zeros((epochs, miners), dtype=np.uint16),
        consensus=np.zeros((epochs, miners), dtype=np.uint16),
        dividends=np.zeros((epochs, validators), dtype=np.uint16),
        trust=np.zeros((epochs, validators), dtype=np.uint16),
        skill=np.zeros((epochs, miners), dtype=np.float32),
        rows=np.zeros((epochs, validators, miners), dtype=np.uint16) if keep_rows else None,
    )
