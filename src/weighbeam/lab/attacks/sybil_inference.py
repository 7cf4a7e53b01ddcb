"""One answer, several names."""

from weighbeam.lab.attack import Attack, by_miners
from weighbeam.lab.world import Said, Turn, World
from weighbeam.miners.contradict import SENTENCE

OPENINGS = ("", "Briefly put: ", "As far as is known, ", "In other words: ", "To answer this: ")


class Sybil:
    """An operator works once a round, with middling skill, and lets each of its miners say it a little differently."""

    def __init__(self) -> None:
        self._told: dict[int, tuple[str, float]] = {}
        self._said: dict[int, int] = {}

    def answer(self, world: World, turn: Turn) -> Said:
        if turn.round not in self._told:
            own = world.answer(turn)
            self._told[turn.round] = own.payload["text"], own.seconds
        text, seconds = self._told[turn.round]
        number = self._said[turn.round] = self._said.get(turn.round, -1) + 1
        return Said({"text": disguise(text, number), "confidence": 0.7}, seconds + 0.2 * number)


def disguise(text: str, number: int) -> str:
    """Another opening, and the sentences in another order.

    >>> disguise("One. Two. Three.", 1)
    'Briefly put: Two. Three. One.'
    """
    sentences = SENTENCE.split(text)
    turned = [*sentences[number % len(sentences) :], *sentences[: number % len(sentences)]]
    return OPENINGS[number % len(OPENINGS)] + " ".join(turned)


ATTACKS = (
    Attack(
        family="sybil",
        mechanism="inference",
        what="One operator registers four miners, answers once with middling skill, and lets each miner send it with "
        "another opening and its sentences in another order.",
        against="Answers alike in words and meaning are one voice: one vote in the consensus, one pay for all of them.",
        open="Turning the sentences round lowers the likeness below the limit in almost half of the rounds, so each of "
        "the four still earns three quarters of what a miner does, and the operator three times as much for the work "
        "of one.",
        run=by_miners("inference", Sybil, 4),
    ),
)
