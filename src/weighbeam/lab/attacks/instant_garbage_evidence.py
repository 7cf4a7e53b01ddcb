"""True quotes of whatever has least to do with the statement, at once."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.worlds.evidence_season import AT_ONCE, Plays, by_finders

ATTACKS = (
    Attack(
        family="instant-garbage",
        mechanism="evidence",
        what="WHAT",
        against="AGAINST",
        open="OPEN",
        run=by_finders(lambda: Plays("unrelated", AT_ONCE)),
    ),
)
