"""One good quote, and inventions that make it look like many."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.worlds.evidence_season import Plays, by_finders

ATTACKS = (
    Attack(
        family="padding",
        mechanism="evidence",
        what="A miner sends one good quote and inventions that make it look like many.",
        against="Only five quotes are read, and each that is not on its page costs a point: the good one does not "
        "make up for them.",
        open="Padding with true but unrelated quotes costs nothing, and gains nothing either.",
        run=by_finders(lambda: Plays("stuffer")),
    ),
)
