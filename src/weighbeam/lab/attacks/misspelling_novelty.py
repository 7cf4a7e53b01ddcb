"""Hand in what another has said, with its longer words misspelt."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.contribute import by_contributors
from weighbeam.lab.world import Turn
from weighbeam.lab.worlds.novelty import NoveltyWorld

LONG = 6


def misspell(world: NoveltyWorld, turn: Turn) -> str:
    return " ".join(swap_letters(word) for word in world.recall(turn).split())


def swap_letters(word: str) -> str:
    """
    >>> swap_letters("harbour"), swap_letters("ship")
    ('habrour', 'ship')
    """
    return word if len(word) < LONG else f"{word[:2]}{word[3]}{word[2]}{word[4:]}"


ATTACKS = (
    Attack(
        "misspelling",
        "novelty",
        "",
        "",
        "",
        by_contributors(lambda: misspell, 1),
    ),
)
