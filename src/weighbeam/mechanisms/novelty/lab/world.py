"""The lab world of novelty: a growing corpus, a desk in memory, and contributors who have more or less that is new.

Nobody is asked, so every round collects one contribution of each, in a drawn order. The round writes down what the
desk found when they came in.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.simulate.world import MinerTurn, SimulatedAnswer, draw_chance
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.records import COLLECTED, Answer, Asked, Group, Observation, Scored, Standing, Task
from weighbeam.mechanism.topic_bank import load_topics
from weighbeam.mechanisms.novelty.identity import normalise_embedded
from weighbeam.mechanisms.novelty.measure import MeasuredText, measure_text
from weighbeam.mechanisms.novelty.mechanism import Novelty
from weighbeam.mechanisms.novelty.observe import REFUSALS, make_event
from weighbeam.mechanisms.novelty.order import Contribution, ContributionOrder
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.senses.local import LocalSenses
from weighbeam.senses.ports.protocols import Senses

MIN_WORDS = 10
MIN_LETTERS = 6
OPENINGS = (
    "It is well known that",
    "As many people have noticed,",
    "Those who have seen it say that",
    "It should not be forgotten that",
    "In short,",
    "According to a neighbour of mine,",
)


def list_statements(senses: Senses) -> tuple[str, ...]:
    """Sentences long enough to stand alone."""
    split = senses.sentences("rules").split
    found = (one.strip() for paragraphs in load_topics().values() for text in paragraphs for one in split(text))
    return tuple(dict.fromkeys(one for one in found if len(one.split()) >= MIN_WORDS))


def list_words(statements: Sequence[str]) -> tuple[str, ...]:
    """The longer words of all statements, each once."""
    words = (word.strip('.,;:()"').lower() for text in statements for word in text.split())
    return tuple(sorted({word for word in words if word.isalpha() and len(word) >= MIN_LETTERS}))


def reword(text: str, chance: np.random.Generator) -> str:
    """The same text, reworded as if from memory."""
    way = WAYS[int(chance.integers(len(WAYS)))]
    return way(text, chance)


def _open(text: str, chance: np.random.Generator) -> str:
    return f"{OPENINGS[int(chance.integers(len(OPENINGS)))]} {text[:1].lower()}{text[1:]}"


def _turn_round(text: str, _: np.random.Generator) -> str:
    words = text.rstrip(".").split()
    middle = len(words) // 2
    return " ".join([*words[middle:], *words[:middle]]) + "."


def _shorten(text: str, _: np.random.Generator) -> str:
    words = text.split()
    return " ".join(words[: max(3, len(words) * 4 // 5)]) + "."


WAYS: tuple[Callable[[str, np.random.Generator], str], ...] = (_open, _open, _turn_round, _shorten)


class SeasonDesk:
    """`paid` is what each hotkey got, in units. `known` are texts measured before, in whichever season: the same text
    is measured the same."""

    def __init__(self, params: NoveltyParams, senses: Senses, known: dict[str, MeasuredText | None]) -> None:
        self.paid: Counter[str] = Counter()
        self._params, self._senses, self._known = params, senses, known
        self._line = ContributionOrder(params, senses.entailment if params.wants_entailment else None)

    def take(self, id: str, hotkey: str, text: str, at: float | None) -> dict[str, Any] | None:
        """Submit a text, and return what a collector finds later; None if it is refused."""
        measured = self._measure(text)
        if measured is None:
            return None
        found = self._line.take(Contribution(id, hotkey, measured, not measured.doubts, at=at))
        judged = found.judgement
        if judged.status == "paid":
            self.paid[hotkey] += judged.units
        return replace(make_event(id, measured, found), status=judged.status, units=judged.units, at=at).as_json()

    def quote(self, text: str, hotkey: str) -> int:
        """Units that the text would be paid now; nothing is kept of it, as with a desk's free check."""
        measured = self._measure(text)
        if measured is None:
            return 0
        judged = self._line.quote(Contribution("quote", hotkey, measured, not measured.doubts)).judgement
        return judged.units if judged.status == "paid" else 0

    def _measure(self, text: str) -> MeasuredText | None:
        if text not in self._known:
            try:
                self._known[text] = measure_text(text, self._params, self._senses)
            except WeighbeamError as refusal:
                if refusal.code not in REFUSALS:
                    raise
                self._known[text] = None
        return self._known[text]


MIN_NEW = 0.25
"""How much of what the least skilled says is new."""
TRIES = 8
"""Asking whether a text is known costs nothing, so who says something again says it differently."""


class NoveltyWorld:
    """Twelve honest contributors. `said` are the new things of earlier rounds, for all to read."""

    honest = 12

    def __init__(self, params: Mapping[str, Any], senses: LocalSenses) -> None:
        self.mechanism: Mechanism = Novelty()
        self.params = make_params(self.mechanism, params)
        self._rules = NoveltyParams(**params)
        self.greatest = self._rules.max_reward
        self.senses = senses
        self.statements = list_statements(senses)
        self.words = list_words(self.statements)
        self._known: dict[str, MeasuredText | None] = {}
        self.begin(0)

    def begin(self, seed: int) -> None:
        """An empty corpus, and the statements in another order."""
        order = draw_chance(seed, "statements").permutation(len(self.statements))
        self._unsaid = [self.statements[place] for place in order]
        self._desk = SeasonDesk(self._rules, self.senses, self._known)
        self._thought: list[str] = []
        self._given: set[str] = set()
        self._refused: set[str] = set()
        self._names: dict[str, str] = {}
        self.said: tuple[str, ...] = ()

    def make_task(self, number: int, chance: np.random.Generator) -> Task:
        return Task(COLLECTED, {})

    def choose(self, standings: Sequence[Standing], hotkeys: Sequence[str], seed: str) -> Group:
        """All of them, in the order in which they come."""
        return Group(tuple(hotkeys[place] for place in draw_chance(0, "order", seed).permutation(len(hotkeys))))

    def answer(self, turn: MinerTurn) -> SimulatedAnswer:
        """Something nobody has said, as often as skill allows; else something said before, in other words."""
        new = turn.chance.random() < MIN_NEW + (1 - MIN_NEW) * turn.me.skill
        if new or not self.said:
            return self.hand_in(turn, self.think())
        tries = (reword(self.recall(turn), turn.chance) for _ in range(TRIES))
        return self.hand_in(turn, next((text for text in tries if text not in self._given), self.recall(turn)))

    def think(self) -> str:
        """Something that nobody has said, as long as there is anything."""
        self._thought.append(self._unsaid.pop() if self._unsaid else self.statements[0])
        return self._thought[-1]

    def recall(self, turn: MinerTurn) -> str:
        """Something that was new in an earlier round."""
        return self.said[int(turn.chance.integers(len(self.said)))] if self.said else self.statements[0]

    def hand_in(self, turn: MinerTurn, text: str | None) -> SimulatedAnswer:
        """Hand in a text and keep its hotkey's owner: pay goes to hotkeys, a trial judges operators."""
        self._names[turn.hotkey] = turn.me.name
        return SimulatedAnswer({"contributions": [] if text is None else [text]}, 0.0)

    def quote(self, text: str, hotkey: str = "") -> float:
        """Tokens that the desk would pay for a text before anything else of this round comes in; asking is free."""
        return self._desk.quote(text, hotkey) / self._rules.base_units

    def count_tokens(self) -> dict[str, float]:
        """Tokens paid this season, by miner."""
        earned: Counter[str] = Counter()
        for hotkey, units in self._desk.paid.items():
            earned[self._names[hotkey]] += units
        return {name: units / self._rules.base_units for name, units in earned.items()}

    def observe(self, asked: Asked) -> Observation:
        given = [text for answer in asked.answers for text in answer.payload["contributions"]]
        self.senses.embedder.embed([normalise_embedded(text) for text in given if text not in self._known])
        answers = tuple(replace(one, payload={"contributions": self._take(one, asked)}) for one in asked.answers)
        self.said, self._given = tuple(self._thought), self._given.union(given)
        self._refused = {
            one.hotkey
            for one, taken in zip(asked.answers, answers, strict=True)
            if one.payload["contributions"] and not taken.payload["contributions"]
        }
        return self.mechanism.observe(self.params, replace(asked, answers=answers), self.senses)

    def _take(self, answer: Answer, asked: Asked) -> list[dict[str, Any]]:
        """A text that cannot be taken is in no round."""
        taken = [
            self._desk.take(f"{asked.seed}/{answer.hotkey}", answer.hotkey, text, asked.at)
            for text in answer.payload["contributions"]
        ]
        return [event for event in taken if event is not None]

    def find_signs(self, observation: Observation, scored: Scored) -> Collection[str]:
        """Miners whose contribution was a duplicate, is held or was refused."""
        return self._refused | {
            score.hotkey for score in scored.scores if self.mechanism.suspicious.keys() & score.reasons
        }
