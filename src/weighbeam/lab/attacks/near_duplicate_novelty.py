"""Hand in what another has said, with something done to it that no reader would notice or mind."""

from collections.abc import Callable

from weighbeam.lab.attack import Attack
from weighbeam.lab.contribute import by_contributors
from weighbeam.lab.world import Turn
from weighbeam.lab.worlds.novelty import NoveltyWorld
from weighbeam.miners.novelty import CYRILLIC, LATIN

DISGUISES: tuple[Callable[[str], str], ...] = (
    str.upper,
    lambda text: text.replace(" ", " \u200b\u00a0"),
    lambda text: f"As everybody knows, {text}",
    lambda text: f"{text} That is what those say who know.",
    lambda text: " ".join(text.split()[::-1]),
    lambda text: text.translate(str.maketrans(LATIN, CYRILLIC)),
    lambda text: text.replace("a", "á").replace("e", "é"),
    lambda text: text.replace(" because ", " since ").replace(" big ", " large ").replace(" often ", " frequently "),
)


def disguise(world: NoveltyWorld, turn: Turn) -> str:
    """One disguise after the other."""
    return DISGUISES[turn.turn % len(DISGUISES)](world.recall(turn))


ATTACKS = (
    Attack(
        family="near-duplicate",
        mechanism="novelty",
        what="One contributor hands in what others have said: in capitals, with blanks or characters nobody sees, "
        "with a phrase before or after it, backwards, in letters of another alphabet, with accents, with a synonym.",
        against="Case, spacing and Unicode spelling make no other text; a phrase more leaves a text too near to be "
        "paid; foreign letters are held.",
        open="Words in reverse order are paid a little. Misspelt and sewn-together copies are attacks of their own.",
        run=by_contributors(lambda: disguise, 1),
    ),
)
