"""Quotes that nobody wrote, on real pages."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.worlds.evidence_season import AT_ONCE, Plays, by_finders

ATTACKS = (
    Attack(
        family="fabrication",
        mechanism="evidence",
        what="WHAT",
        against="AGAINST",
        open="OPEN",
        run=by_finders(lambda: Plays("inventor", AT_ONCE)),
    ),
)
