"""Random letters: nothing is farther from all that was ever said."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.contribute import by_contributors
from weighbeam.lab.world import Turn
from weighbeam.lab.worlds.novelty import NoveltyWorld

WORDS = 14
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def hit_keys(_: NoveltyWorld, turn: Turn) -> str:
    sizes = turn.chance.integers(3, 9, size=WORDS)
    return " ".join("".join(turn.chance.choice(list(LETTERS), size=size)) for size in sizes)


ATTACKS = (
    Attack(
        family="gibberish",
        mechanism="novelty",
        what="One contributor hands in random letters.",
        against="Too many word pieces per word, and no language: the reward is held until the operator looks at it.",
        open="An operator who releases without looking pays the highest reward for it.",
        run=by_contributors(lambda: hit_keys, 1),
    ),
)
