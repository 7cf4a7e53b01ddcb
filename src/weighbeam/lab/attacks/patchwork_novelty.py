"""Sew halves of what others have said together."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.contribute import by_contributors
from weighbeam.lab.world import Turn
from weighbeam.lab.worlds.novelty import NoveltyWorld


def sew(world: NoveltyWorld, turn: Turn) -> str:
    """The beginning of one contribution and the end of another."""
    one, other = world.recall(turn).split(), world.recall(turn).split()
    return " ".join([*one[: len(one) // 2], *other[len(other) // 2 :]])


ATTACKS = (
    Attack(
        family="patchwork",
        mechanism="novelty",
        what="One contributor sews the beginning of one contribution to the end of another.",
        against="Long texts are compared piece by piece; a single sentence is one piece and is compared as a whole.",
        open="It pays more than average honest work, and nothing shows: half of one text and half of another are like "
        "neither. What is new in meaning is beyond a sentence embedder.",
        run=by_contributors(lambda: sew, 1),
    ),
)
