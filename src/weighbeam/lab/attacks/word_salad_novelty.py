"""Made-up words with small real ones between them: the looks of language, and none of it."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.contribute import by_contributors
from weighbeam.lab.world import Turn
from weighbeam.lab.worlds.novelty import NoveltyWorld

PAIRS = 8
SYLLABLES = 3
SMALL = ("the", "a", "of", "and", "in")
CONSONANTS, VOWELS = "bcdfghjklmnprstvwz", "aeiou"


def mix(world: NoveltyWorld, turn: Turn) -> str:
    def make_word() -> str:
        return "".join(f"{turn.chance.choice(list(CONSONANTS))}{turn.chance.choice(list(VOWELS))}" for _ in range(SYLLABLES))

    return " ".join(f"{turn.chance.choice(SMALL)} {make_word()}" for _ in range(PAIRS))


ATTACKS = (
    Attack(
        "word-salad",
        "novelty",
        "",
        "",
        "",
        by_contributors(lambda: mix, 1),
    ),
)
