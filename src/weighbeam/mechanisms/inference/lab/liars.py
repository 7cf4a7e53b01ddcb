"""Attacks by fluent lies: what share of reference tasks makes them cost more than they save."""

from weighbeam.lab.attack.attack import Attack, by_miners
from weighbeam.lab.attack.moves import answer_as
from weighbeam.lab.simulate.world import FixedStrategy, MinerTurn, SimulatedAnswer, World
from weighbeam.mechanisms.inference.lab.world import InferenceWorld
from weighbeam.mechanisms.inference.miners.contradict import SENTENCE, contradict

LUCK = 0.2
"""How often somebody who does not work is right by chance: choices have few options."""


def lie(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """A fluent answer that is false: a good one turned round, and a wrong result where one is asked for."""
    assert isinstance(world, InferenceWorld)
    known = world.answer_known(turn, LUCK)
    if known is not None:
        return SimulatedAnswer({"text": known, "confidence": 0.9}, world.take_time(turn))
    good = answer_as(world, turn, skill=0.8)
    return SimulatedAnswer({"text": contradict(good.payload["text"]), "confidence": 0.9}, good.seconds)


class LyingCrew:
    """One lie a round for all miners of an operator, each with its sentences in another order."""

    def __init__(self) -> None:
        self._told: dict[int, tuple[str, float]] = {}
        self._said: dict[int, int] = {}

    def answer(self, world: World, turn: MinerTurn) -> SimulatedAnswer:
        if turn.round not in self._told:
            told = lie(world, turn)
            self._told[turn.round] = told.payload["text"], told.seconds
        text, seconds = self._told[turn.round]
        number = self._said[turn.round] = self._said.get(turn.round, -1) + 1
        return SimulatedAnswer({"text": reorder(text, number), "confidence": 0.9}, seconds + 0.1 * number)


def reorder(text: str, number: int) -> str:
    """The sentences in another order, but for the last, which says what it comes to.

    >>> reorder("One. Two. Three.", 1)
    'Two. One. Three.'
    """
    *rest, last = SENTENCE.split(text)
    turned = [*rest[number % len(rest) :], *rest[: number % len(rest)]] if rest else []
    return " ".join([*turned, last])


LIARS = (
    Attack(
        family="fluent-liar",
        mechanism="inference",
        what="Two miners send fluent falsehoods: good answers with every sentence turned round, and where a task has a "
        "definite result, one made up in the same words that honest miners use.",
        against="With reference_share above 0 some tasks carry a hidden reference. A wrong answer keeps a tenth of its "
        "score, and the pay of all rounds falls steeply with a miner's truth over its reference rounds.",
        open="With reference_share at 0 nothing distinguishes a lie from the truth. A miner that works on tasks with a "
        "definite result and lies in open questions is only found out by references in text.",
        run=by_miners("inference", lambda: FixedStrategy(lie), 2),
    ),
    Attack(
        family="wrong-majority",
        mechanism="inference",
        what="Fourteen miners of one operator, more than all honest ones, send one wrong answer in different orders of "
        "its sentences, so that the wrong answer is what most answers say.",
        against="In a round with a reference a wrong answer is never in the consensus and has no vote, whatever the "
        "majority says; copies share one pay; their truth falls to nothing within a few reference rounds.",
        open="With reference_share at 0 the majority is the consensus.",
        run=by_miners("inference", LyingCrew, 14),
    ),
)
