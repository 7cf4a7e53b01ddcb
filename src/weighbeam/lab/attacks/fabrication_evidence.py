"""Fabrication: quotes that nobody wrote, on real pages."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.worlds.evidence_season import AT_ONCE, Tricks, by_finders

ATTACKS = (
    Attack(
        family="fabrication",
        mechanism="evidence",
        what="",
        against="",
        open="",
        run=by_finders(lambda world: Tricks(world, "inventor", AT_ONCE)),
    ),
)
