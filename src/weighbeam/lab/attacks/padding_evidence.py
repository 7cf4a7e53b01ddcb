"""Padding: one good quote, and inventions that make it look like many."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.worlds.evidence_season import Tricks, by_finders

ATTACKS = (
    Attack(
        family="padding",
        mechanism="evidence",
        what="",
        against="",
        open="",
        run=by_finders(lambda world: Tricks(world, "stuffer")),
    ),
)
