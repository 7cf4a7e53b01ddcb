"""True quotes without their denial, or with one."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.worlds.evidence_season import Plays, by_finders

ATTACKS = (
    Attack(
        family="meaning-flip",
        mechanism="evidence",
        what="WHAT",
        against="AGAINST",
        open="OPEN",
        run=by_finders(lambda: Plays("forger")),
    ),
)
