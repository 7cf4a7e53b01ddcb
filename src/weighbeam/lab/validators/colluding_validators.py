"""Colluding validators: some run honest rounds but hand half of their weight to three middling miners of their own.

What is attacked is the pay of miners. What closes it is Yuma's consensus: as long as the colluders hold less stake than
kappa leaves (half), what they give above the others' median is clipped to nothing, their miners earn nothing by it, and
their own dividends fall because their bonds follow the clipped row. What stays open is half of the stake or more: there
the colluders are the consensus, their miners are paid, and it is the honest who are clipped. No rule on chain helps
against that, and no sign shows, for a sign is measured against consensus. The sign (ten epochs on end at least 5 % of a
row, and ten times what consensus gives, to one and the same miner) finds those below half; spreading the favours over
more than ten miners, or pausing them now and then, escapes it.
"""

import numpy as np

from weighbeam.lab.attack.attack import YUMA, Attack, TrialSetting
from weighbeam.lab.simulate.measure import Trial
from weighbeam.lab.validators.crowd import Crowd
from weighbeam.lab.validators.season import (
    INCENTIVE,
    PER_STAKE,
    draw_miners,
    make_rules,
    play,
    try_miners,
    try_validators,
)
from weighbeam.lab.validators.signs import find_favours
from weighbeam.lab.validators.strategies import ColludingValidator, ValidatorSeat
from weighbeam.lab.validators.year import Year

MINORITY, MAJORITY = 6, 10
FAVOURED = 3
SHARE = 0.5


def run(seed: int, setting: TrialSetting | None = None, colluders: int = MINORITY) -> Trial:
    """Gain of colluders among sixteen validators for themselves."""
    _, _, year, validators = _play(seed, setting, colluders)
    return try_validators(seed, year, validators, np.asarray(find_favours(year).any(axis=2)))


def run_majority(seed: int, setting: TrialSetting | None = None) -> Trial:
    """The same with five eighths of the stake."""
    return run(seed, setting, MAJORITY)


def run_favoured(seed: int, setting: TrialSetting | None = None, colluders: int = MINORITY) -> Trial:
    """Gain of the favoured miners; a sign against a validator counts against its favourites."""
    crowd, favoured, year, _ = _play(seed, setting, colluders)
    return try_miners(seed, year, crowd, favoured, np.asarray(find_favours(year).any(axis=1)))


def run_favoured_majority(seed: int, setting: TrialSetting | None = None) -> Trial:
    """The same with five eighths of the stake."""
    return run_favoured(seed, setting, MAJORITY)


def _play(
    seed: int, setting: TrialSetting | None, colluders: int
) -> tuple[Crowd, tuple[int, ...], Year, list[ValidatorSeat]]:
    crowd = draw_miners(seed)
    middle = len(crowd) // 2
    favoured = tuple(np.argsort(crowd.skill)[middle : middle + FAVOURED].tolist())
    year, validators = play(crowd, [ColludingValidator(favoured, SHARE)] * colluders, seed, make_rules(setting))
    return crowd, favoured, year, validators


CLIPPED = (
    "Weight above the others' median is clipped to nothing, and bonds follow the clipped row. Ten epochs on "
    "end at least 5 % of a row, and ten times what consensus gives, to one and the same miner is a sign."
)
NOTHING = (
    "Nothing: above kappa the colluders are the consensus, and it is the honest who are clipped. No sign shows, for a "
    "sign is measured against consensus."
)
SPREAD = "Favours spread over more than ten miners, or paused now and then, leave no sign."
OUTSIDE = "No rule on chain helps against a majority of stake; stake that leaves is the only answer."

ATTACKS = (
    Attack(
        family="colluding-validators",
        mechanism=YUMA,
        what="Six of sixteen validators of equal stake run honest rounds but hand half of their row to three middling "
        "miners of their own.",
        against=CLIPPED,
        open=SPREAD,
        run=run,
        counted=PER_STAKE,
    ),
    Attack(
        family="colluding-majority",
        mechanism=YUMA,
        what="Ten of sixteen validators do so, five eighths of all stake.",
        against=NOTHING,
        open=OUTSIDE,
        run=run_majority,
        counted=PER_STAKE,
    ),
    Attack(
        family="favoured-miners",
        mechanism=YUMA,
        what="The same six colluders of sixteen, seen from the three miners they favour.",
        against=CLIPPED,
        open=SPREAD,
        run=run_favoured,
        counted=INCENTIVE,
    ),
    Attack(
        family="favoured-by-majority",
        mechanism=YUMA,
        what="The same ten colluders of sixteen, seen from the three miners they favour.",
        against=NOTHING,
        open=OUTSIDE,
        run=run_favoured_majority,
        counted=INCENTIVE,
    ),
)
