"""A season of attacking validators as a trial: sixteen validators of equal stake over sixty-four miners.

Turns are epochs, counted once the tournament has settled. A validator earns dividends per stake, a miner incentive; one
is what each would have on average.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.core.stats import U16_MAX
from weighbeam.lab.attack.attack import TrialSetting
from weighbeam.lab.simulate.measure import Trial
from weighbeam.lab.validators.crowd import Crowd, draw_crowd
from weighbeam.lab.validators.strategies import HonestValidator, ValidatorSeat, ValidatorStrategy
from weighbeam.lab.validators.year import Year, YearPlan, simulate_year

VALIDATORS, MINERS = 16, 64
EPOCHS, SETTLING, END = 120, 40, 50
STAKE = 10**12
SPREADS = (0.02, 0.15)
PER_STAKE = "what a validator earns on average, in dividends per stake"
INCENTIVE = "what a miner earns on average, in incentive"


def make_rules(setting: TrialSetting | None, **others: Any) -> SubnetParameters:
    """Yuma 3 at the chain's defaults, with what the attack and then the setting has otherwise."""
    return SubnetParameters(**{"yuma3": True, **others, **(setting.params if setting else {})})


def draw_miners(seed: int) -> Crowd:
    return draw_crowd(MINERS, np.random.default_rng([seed, 2]))


def play(
    crowd: Crowd, minds: Sequence[ValidatorStrategy], seed: int, rules: SubnetParameters
) -> tuple[Year, list[ValidatorSeat]]:
    """The season: the last validators are of these minds, all others honest, some of better senses than others."""
    spreads = np.random.default_rng([seed, 3]).uniform(*SPREADS, VALIDATORS).tolist()
    strategies = [HonestValidator()] * (VALIDATORS - len(minds)) + list(minds)
    validators = [ValidatorSeat(STAKE, mind, spread) for mind, spread in zip(strategies, spreads, strict=True)]
    plan = YearPlan(epochs=SETTLING + EPOCHS, rules=rules)
    return simulate_year(crowd, validators, seed, plan, keep_rows=True), validators


def try_validators(seed: int, year: Year, validators: Sequence[ValidatorSeat], signs: NDArray[np.bool_]) -> Trial:
    """The trial of the dishonest among them; `signs` [epochs, validators]."""
    names = [f"validator-{number:02}" for number in range(len(validators))]
    honest = [isinstance(validator.strategy, HonestValidator) for validator in validators]
    paid = year.dividends[SETTLING:] / U16_MAX * len(validators)
    skill = [-validator.spread for validator in validators]
    return make_trial(seed, names, honest, paid, signs[SETTLING:], skill)


def try_miners(seed: int, year: Year, crowd: Crowd, favoured: Sequence[int], signs: NDArray[np.bool_]) -> Trial:
    """The trial of the favoured miners; `signs` [epochs, miners]."""
    names = [f"miner-{number:02}" for number in range(len(crowd))]
    honest = [number not in favoured for number in range(len(crowd))]
    paid = year.incentive[SETTLING:] / U16_MAX * len(crowd)
    return make_trial(seed, names, honest, paid, signs[SETTLING:], crowd.skill.tolist())


def make_trial(
    seed: int,
    names: Sequence[str],
    honest: Sequence[bool],
    paid: NDArray[np.float64],
    signs: NDArray[np.bool_],
    skill: Sequence[float],
) -> Trial:
    """Pay and signs [epochs, identities]; pay of 1 per epoch is a fair share."""
    last = paid[-END:].mean(axis=0).tolist()
    told = zip(names, honest, skill, last, strict=True)
    known = [(name, is_honest, able, stood) for name, is_honest, able, stood in told]
    return Trial(
        seed=seed,
        earned=dict(zip(names, paid.mean(axis=0).tolist(), strict=True)),
        attackers=frozenset(name for name, is_honest, _, _ in known if not is_honest),
        honest=frozenset(name for name, is_honest, _, _ in known if is_honest),
        fair=1.0,
        signs={name: tuple(np.flatnonzero(column).tolist()) for name, column in zip(names, signs.T, strict=True)},
        turns=dict.fromkeys(names, len(paid)),
        skill={name: able for name, is_honest, able, _ in known if is_honest},
        standing={name: stood for name, _, _, stood in known},
    )
