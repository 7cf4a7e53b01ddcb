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
        family="misspelling",
        mechanism="novelty",
        what="One contributor hands in what others have said, with two letters swapped in every longer word.",
        against="Only the similarity of the embedding, which falls more for a misspelt text than a reader's would.",
        open="It pays a little more than average honest work, and nothing shows: the text reads as language, and no "
        "copy is like it. A spelling check before embedding would be the mend.",
        run=by_contributors(lambda: misspell, 1),
    ),
)
