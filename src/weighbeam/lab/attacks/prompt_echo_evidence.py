"""Prompt echo: the statement itself as its own evidence."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.worlds.evidence_season import AT_ONCE, Tricks, by_finders

ATTACKS = (
    Attack(
        family="prompt-echo",
        mechanism="evidence",
        what="",
        against="",
        open="",
        run=by_finders(lambda world: Tricks(world, "parrot", AT_ONCE)),
    ),
)
