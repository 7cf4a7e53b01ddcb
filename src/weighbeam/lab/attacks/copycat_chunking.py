"""Repeat the best miner's chunks."""

from weighbeam.lab.attack import Attack, by_miners
from weighbeam.lab.listen import MOMENT, hear_best
from weighbeam.lab.world import Always, Said, Turn, World

BLANKS = 100


def copy_best(world: World, turn: Turn) -> Said:
    """With blanks after a chunk it is another answer, and of equal worth."""
    heard = hear_best(world, turn)
    if heard is None:
        return world.answer(turn)
    *chunks, last = heard.payload["chunks"]
    blanks = " " * int(turn.chance.integers(1, BLANKS))
    return Said({"chunks": [*chunks, last + blanks]}, heard.seconds + MOMENT)


ATTACKS = (
    Attack(
        family="copycat",
        mechanism="chunking",
        what="Three miners hear what the others of their round say and send the chunks of whoever stands best, a "
        "moment later and with a few blanks after the last one.",
        against="Equal rewards share the average of their places, so a copy is never above its original; answers "
        "equal to the letter are counted as copies.",
        open="It earned about twice what an average miner does, in some seasons nothing: a copy is worth as much as "
        "its original, and a blank more or less makes it another answer. It only works for who hears answers before "
        "the round is over.",
        run=by_miners("chunking", lambda: Always(copy_best), 3),
    ),
)
