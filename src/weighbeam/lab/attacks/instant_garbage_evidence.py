"""True quotes of whatever has least to do with the statement, at once."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.worlds.evidence_season import AT_ONCE, Plays, by_finders

ATTACKS = (
    Attack(
        family="instant-garbage",
        mechanism="evidence",
        what="A miner sends true quotes of whatever has least to do with the statement, at once, to win by speed.",
        against="Unrelated passages are worth nothing, and twice nothing is nothing. It stands behind everybody who "
        "works.",
        open="Nothing is held against it, since honest searches bring unrelated passages too: it is never found out, "
        "and still ranks above those who are punished.",
        run=by_finders(lambda: Plays("unrelated", AT_ONCE)),
    ),
)
