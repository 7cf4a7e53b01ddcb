"""Other people's sentences, mixed."""

from weighbeam.lab.attack import Attack, by_miners
from weighbeam.lab.listen import MOMENT
from weighbeam.lab.world import Always, Said, Turn, World
from weighbeam.miners.contradict import SENTENCE

SENTENCES = 5


def patch(world: World, turn: Turn) -> Said:
    """A sentence of each of several honest answers, none of which it is a copy of."""
    texts = [said.payload["text"] for _, said in sorted(turn.heard.items())]
    if not texts:
        return world.answer(turn)
    order = turn.chance.permutation(len(texts))[:SENTENCES]
    chosen = [
        SENTENCE.split(texts[place])[place_in % len(SENTENCE.split(texts[place]))]
        for place_in, place in enumerate(order)
    ]
    seconds = max(said.seconds for said in turn.heard.values()) + MOMENT
    return Said({"text": " ".join(chosen), "confidence": 0.8}, seconds)


ATTACKS = (
    Attack(
        family="patchwork",
        mechanism="inference",
        what="Three miners listen to all honest answers of their round and send one sentence of each, five in all.",
        against="No two answers are alike enough to be copies of each other; only slowness counts against it.",
        open="A patchwork lies in the middle of all honest answers, which is where consensus is. Answers must not be "
        "readable by others before the round is over.",
        run=by_miners("inference", lambda: Always(patch), 3),
    ),
)
