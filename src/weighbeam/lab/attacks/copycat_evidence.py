"""The quotes of a better miner, a moment later."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.listen import repeat_best
from weighbeam.lab.world import Always
from weighbeam.lab.worlds.evidence_season import by_finders

ATTACKS = (
    Attack(
        family="copycat",
        mechanism="evidence",
        what="A miner does no work: it hears the answers of its round, and sends that of the best standing honest "
        "miner word for word a moment later.",
        against="Answers are compared in the order of their arrival. Half of an answer's accepted quotes in an "
        "earlier one make it a copy, which earns nothing whatever it is worth.",
        open="Honest miners that find the same passages are caught as well: about one in eight is found out here, and "
        "nearly all would be if a statement had only two pages in the world. A copy that arrives first makes the "
        "original the copy.",
        run=by_finders(lambda: Always(repeat_best)),
    ),
)
