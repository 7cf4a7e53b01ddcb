"""Weight copying: a validator runs no round at all and sets the consensus of the last epoch as its own weights.

What is attacked is the work of validators: a copier has no senses to pay for, and its row, the median of all others, is
clipped less than any honest one, so that it even earns more per stake. What stands against it is commit-reveal: rows
stay hidden for some epochs, so that a copier is late by as many, and late rows are clipped where miners have changed
places since. Three epochs take the gain away and no more; what stays open is that a copier which earns like the honest
has saved all their costs, and that where skills hardly move, late is as good as new. The sign (a row that is one of the
last eight consensuses to within a hundredth of its weight) finds this copier and no honest validator, but one that adds
some noise of its own escapes it.
"""

from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.lab.measure import Trial
from weighbeam.lab.validators.season import draw_miners, play, try_validators
from weighbeam.lab.validators.signs import find_copies
from weighbeam.lab.validators.strategies import Copier

COPIERS = 3
REVEAL_EPOCHS = 3


def run(seed: int) -> Trial:
    """Three of sixteen copy, and every row is public at once."""
    return _run(seed, SubnetParameters(yuma3=True))


def run_revealed_late(seed: int) -> Trial:
    """The same where rows come into force, and to light, three epochs after they were made."""
    return _run(seed, SubnetParameters(yuma3=True, commit_reveal=True, reveal_period=REVEAL_EPOCHS))


def _run(seed: int, rules: SubnetParameters) -> Trial:
    year, validators = play(draw_miners(seed), [Copier()] * COPIERS, seed, rules)
    return try_validators(seed, year, validators, find_copies(year))
