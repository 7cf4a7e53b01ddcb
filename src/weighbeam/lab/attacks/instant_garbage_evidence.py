"""Instant garbage: true quotes of whatever has least to do with the statement, at once."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.worlds.evidence_season import AT_ONCE, Tricks, by_finders

ATTACKS = (
    Attack(
        family="instant-garbage",
        mechanism="evidence",
        what="",
        against="",
        open="",
        run=by_finders(lambda world: Tricks(world, "unrelated", AT_ONCE)),
    ),
)
