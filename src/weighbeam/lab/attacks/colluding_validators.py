"""Colluding validators: some run honest rounds but hand half of their weight to three middling miners of their own.

What is attacked is the pay of miners. What closes it is Yuma's consensus: as long as the colluders hold less stake than
kappa leaves (half), what they give above the others' median is clipped to nothing, their miners earn nothing by it, and
their own dividends fall because their bonds follow the clipped row. What stays open is a majority: above kappa the
colluders are the consensus, their miners are paid, and it is the honest who are clipped. No rule on chain helps against
that, and no sign shows, for a sign is measured against consensus. The sign (ten epochs on end at least 5 % of a row,
and ten times what consensus gives, to one and the same miner) finds those below kappa; spreading the favours over more
than ten miners, or pausing them now and then, escapes it.
"""

import numpy as np

from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.lab.crowd import Crowd
from weighbeam.lab.measure import Trial
from weighbeam.lab.validators.season import draw_miners, play, try_miners, try_validators
from weighbeam.lab.validators.signs import find_favours
from weighbeam.lab.validators.strategies import Colluder
from weighbeam.lab.year import Validator, Year

MINORITY, MAJORITY = 6, 10
FAVOURED = 3
SHARE = 0.5


def run(seed: int) -> Trial:
    """What colluders with three eighths of the stake earn by it themselves."""
    _, _, year, validators = _play(seed, MINORITY)
    return try_validators(seed, year, validators, np.asarray(find_favours(year).any(axis=2)))


def run_majority(seed: int) -> Trial:
    """The same with five eighths."""
    _, _, year, validators = _play(seed, MAJORITY)
    return try_validators(seed, year, validators, np.asarray(find_favours(year).any(axis=2)))


def run_favoured(seed: int) -> Trial:
    """What the favoured miners earn by it; a sign against a validator is one against whom it favours."""
    crowd, favoured, year, _ = _play(seed, MINORITY)
    return try_miners(seed, year, crowd, favoured, np.asarray(find_favours(year).any(axis=1)))


def run_favoured_majority(seed: int) -> Trial:
    """The same with five eighths of the stake."""
    crowd, favoured, year, _ = _play(seed, MAJORITY)
    return try_miners(seed, year, crowd, favoured, np.asarray(find_favours(year).any(axis=1)))


def _play(seed: int, colluders: int) -> tuple[Crowd, tuple[int, ...], Year, list[Validator]]:
    crowd = draw_miners(seed)
    middle = len(crowd) // 2
    favoured = tuple(np.argsort(crowd.skill)[middle : middle + FAVOURED].tolist())
    year, validators = play(crowd, [Colluder(favoured, SHARE)] * colluders, seed, SubnetParameters(yuma3=True))
    return crowd, favoured, year, validators
