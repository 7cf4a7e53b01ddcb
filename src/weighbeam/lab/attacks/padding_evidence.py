"""One good quote, and inventions that make it look like many."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.worlds.evidence_season import Plays, by_finders

ATTACKS = (
    Attack(
        family="padding",
        mechanism="evidence",
        what="WHAT",
        against="AGAINST",
        open="OPEN",
        run=by_finders(lambda: Plays("stuffer")),
    ),
)
