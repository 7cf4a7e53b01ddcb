"""Repeat the best miner's chunks."""

from weighbeam.lab.attack import Attack, by_miners
from weighbeam.lab.world import Always, Said, Turn, World

DELAY = 0.3


def copy_best(world: World, turn: Turn) -> Said:
    """What the best standing of those heard said, without the blanks around chunks: another answer, of equal worth."""
    known = {standing.hotkey: standing.value for standing in turn.standings if standing.value is not None}
    best = min(turn.heard, key=lambda hotkey: (known.get(hotkey, float("inf")), hotkey), default=None)
    if best is None:
        return Said(None, 0.0, "refused")
    heard = turn.heard[best]
    return Said({"chunks": [chunk.strip() for chunk in heard.payload["chunks"]]}, heard.seconds + DELAY)


ATTACKS = (
    Attack(
        "copycat",
        "chunking",
        "One miner hears what the others of its round say and sends the chunks of whoever stands best, a third of "
        "a second later and without the blanks around them.",
        "Equal rewards share the average of their places, so a copy is never above its original; answers equal to "
        "the letter are counted as copies.",
        "It pays several times what an average miner earns: a copy is worth as much as its original, and a blank "
        "more or less makes it another answer. It only works for who hears answers before the round is over.",
        by_miners("chunking", lambda: Always(copy_best), 1),
    ),
)
