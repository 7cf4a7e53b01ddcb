"""Meaning flip: true quotes without their denial, or with one."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.worlds.evidence_season import Tricks, by_finders

ATTACKS = (
    Attack(
        family="meaning-flip",
        mechanism="evidence",
        what="",
        against="",
        open="",
        run=by_finders(lambda world: Tricks(world, "forger")),
    ),
)
