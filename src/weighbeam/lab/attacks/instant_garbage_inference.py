"""First with nothing."""

from weighbeam.lab.attack import Attack, by_miners
from weighbeam.lab.world import Always, Said, Turn, World

LINES = ("It depends on many things.", "There are several reasons for this.", "Yes, that is generally true.")


def shout(_: World, turn: Turn) -> Said:
    return Said({"text": LINES[turn.chance.integers(len(LINES))], "confidence": 1.0}, 0.001)


ATTACKS = (
    Attack(
        family="instant-garbage",
        mechanism="inference",
        what="Three miners answer within a millisecond with a sentence that fits anything, and claim to be certain.",
        against="Speed multiplies what an answer is worth, and what is flagged is worth nothing. Beyond a quarter of "
        "the median time, faster counts no more.",
        open="Nothing known.",
        run=by_miners("inference", lambda: Always(shout), 3),
    ),
)
