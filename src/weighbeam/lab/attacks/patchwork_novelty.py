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
        "patchwork",
        "novelty",
        "",
        "",
        "",
        by_contributors(lambda: sew, 1),
    ),
)
