"""Quotes that nobody wrote, on real pages."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.worlds.evidence_season import AT_ONCE, Plays, by_finders

ATTACKS = (
    Attack(
        family="fabrication",
        mechanism="evidence",
        what="A miner invents quotes that confirm the statement and gives real pages as their source.",
        against="What is not on its page costs a point each, twice if it came quickly.",
        open="The penalty is milder than for a forgery, since pages change under honest quotes.",
        run=by_finders(lambda: Plays("inventor", AT_ONCE)),
    ),
)
