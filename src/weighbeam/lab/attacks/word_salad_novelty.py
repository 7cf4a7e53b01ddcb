"""Made-up words with small real ones between them: the looks of language, and none of it."""

import numpy as np

from weighbeam.lab.attack import Attack
from weighbeam.lab.contribute import by_contributors
from weighbeam.lab.world import Turn
from weighbeam.lab.worlds.novelty import NoveltyWorld

PAIRS = 8
SYLLABLES = 3
SMALL = ("the", "a", "of", "and", "in")
CONSONANTS, VOWELS = "bcdfghjklmnprstvwz", "aeiou"


def mix(_: NoveltyWorld, turn: Turn) -> str:
    return " ".join(f"{turn.chance.choice(SMALL)} {invent(turn.chance)}" for _ in range(PAIRS))


def invent(chance: np.random.Generator) -> str:
    """A word that can be pronounced."""
    pairs = [(chance.choice(list(CONSONANTS)), chance.choice(list(VOWELS))) for _ in range(SYLLABLES)]
    return "".join(f"{one}{other}" for one, other in pairs)


ATTACKS = (
    Attack(
        family="word-salad",
        mechanism="novelty",
        what="One contributor hands in made-up words of easy syllables with small real words between them.",
        against="The look at language counts small words and pieces per word, and both are as in honest text; rarer "
        "words without small ones between them would be held.",
        open="It pays the highest reward every time, and nothing shows. An operator who reads what is paid most sees "
        "it at once.",
        run=by_contributors(lambda: mix, 1),
    ),
)
