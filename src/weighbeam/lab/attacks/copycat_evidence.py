"""The quotes of a better miner, a moment later."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.listen import repeat_best
from weighbeam.lab.world import Always
from weighbeam.lab.worlds.evidence_season import by_finders

ATTACKS = (
    Attack(
        family="copycat",
        mechanism="evidence",
        what="WHAT",
        against="AGAINST",
        open="OPEN",
        run=by_finders(lambda: Always(repeat_best)),
    ),
)
