"""Sentences of good grammar that nobody means, out of a mould."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.contribute import by_contributors
from weighbeam.lab.world import Turn
from weighbeam.lab.worlds.novelty import NoveltyWorld

ENDINGS = {
    "noun": ("tion", "ness", "ment", "ture", "ity"),
    "quality": ("al", "ous", "ic", "ive", "able"),
    "deed": ("ated", "ened", "ered", "ised", "led"),
}
MOULD = "The {quality} {noun} {deed} a {quality} {noun} because every {noun} of the {noun} was {quality}."


def fill_mould(world: NoveltyWorld, turn: Turn) -> str:
    text = MOULD
    for kind, endings in ENDINGS.items():
        fitting = [word for word in world.words if word.endswith(endings)]
        while f"{{{kind}}}" in text:
            text = text.replace(f"{{{kind}}}", str(turn.chance.choice(fitting)), 1)
    return text


ATTACKS = (
    Attack(
        family="fluent-nonsense",
        mechanism="novelty",
        what="One contributor fills a mould of good grammar with words drawn by lot.",
        against="Nothing: it is language, and nobody has said it before.",
        open="It pays the highest reward every time, and nothing shows. Whether something is worth saying is not "
        "measured; a budget per contributor limits the loss.",
        run=by_contributors(lambda: fill_mould, 1),
    ),
)
