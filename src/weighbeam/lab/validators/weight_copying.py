"""Weight copying: a validator runs no round at all and sets the consensus of the last epoch as its own weights.

What is attacked is the work of validators: a copier has no senses to pay for, and its row, the median of all others, is
clipped less than any honest one, so that it even earns more per stake. What stands against it is commit-reveal: rows
stay hidden for some epochs, so that a copier is late by as many, and late rows are clipped where miners have changed
places since. One epoch is too few, three take the gain away, six make it lose a little. What stays open: a copier that
earns like the honest has saved all their costs, and where skills hardly move, late is as good as new. The sign (a row
that is one of the last eight consensuses to within a hundredth of its weight) finds this copier, and honest ones next
to never; one that adds some noise of its own escapes it.
"""

from weighbeam.lab.attack.attack import YUMA, Attack, TrialSetting
from weighbeam.lab.simulate.measure import Trial
from weighbeam.lab.validators.season import PER_STAKE, draw_miners, make_rules, play, try_validators
from weighbeam.lab.validators.signs import find_copies
from weighbeam.lab.validators.strategies import CopyingValidator

COPIERS = 3
REVEAL_EPOCHS = 3


def run(seed: int, setting: TrialSetting | None = None, reveal_epochs: int = 0) -> Trial:
    """Three of sixteen validators copy; rows come into force, and to light, so many epochs after they were made."""
    rules = make_rules(setting, commit_reveal=reveal_epochs > 0, reveal_period=max(1, reveal_epochs))
    year, validators = play(draw_miners(seed), [CopyingValidator()] * COPIERS, seed, rules)
    return try_validators(seed, year, validators, find_copies(year))


def run_hidden(seed: int, setting: TrialSetting | None = None) -> Trial:
    """The same behind commit-reveal."""
    return run(seed, setting, REVEAL_EPOCHS)


ATTACKS = (
    Attack(
        family="weight-copying",
        mechanism=YUMA,
        what="Three of sixteen validators of equal stake run no round at all and set the consensus of the last epoch "
        "as their own weights.",
        against="Nothing, as long as rows are public at once: the median of all others is clipped less than any honest "
        "row. A row that is one of the last eight consensuses to within a hundredth of its weight is a sign.",
        open="It pays, and saves all costs of work; commit-reveal is the answer. A copier that adds some noise of its "
        "own leaves no sign.",
        run=run,
        counted=PER_STAKE,
    ),
    Attack(
        family="weight-copying-commit-reveal",
        mechanism=YUMA,
        what="The same three copiers where commit-reveal hides every row for three epochs.",
        against="A copier is late by as many epochs, and late rows are clipped where miners have changed places since.",
        open="The gain is gone, but not more: who earns like the honest without their work has saved its costs, and "
        "where skills hardly move, late is as good as new.",
        run=run_hidden,
        counted=PER_STAKE,
    ),
)
