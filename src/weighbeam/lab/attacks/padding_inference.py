"""Make little look like much."""

from weighbeam.lab.attack import Attack, by_miners
from weighbeam.lab.world import Always, Said, Turn, World
from weighbeam.miners.contradict import SENTENCE

FILLER = (
    "It is worth looking at this more closely, since many people have asked about it before.",
    "Several sources describe the same thing in other words and come to similar conclusions.",
    "Of course, there is a great deal more that could be said about it in a longer text.",
    "All of this has been known for a long time and can be read in many places.",
    "In summary, the points above give a good picture of what is going on here.",
)


def pad(world: World, turn: Turn) -> Said:
    """One sentence of an honest answer, between sentences that fit everywhere."""
    whole = world.answer(turn)
    start = int(turn.me.name[-3:])
    order = [*FILLER[start:], *FILLER[:start]]
    text = " ".join((order[0], SENTENCE.split(whole.payload["text"])[0], *order[1:]))
    return Said({"text": text, "confidence": 0.9}, whole.seconds)


ATTACKS = (
    Attack(
        family="padding",
        mechanism="inference",
        what="Three miners say one sentence that answers the prompt and five that fit every prompt, to be as long as "
        "the others.",
        against="Quality counts what the words say, not how many there are: filler lowers density and relevance.",
        open="A thin answer is still an answer: it is paid as one, and padding saves it from being removed as short.",
        run=by_miners("inference", lambda: Always(pad), 3),
    ),
)
