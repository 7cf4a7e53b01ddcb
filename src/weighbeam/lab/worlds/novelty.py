"""Novelty as a season plays it: a corpus that grows, and contributors who have more or less that is new.

Nobody is asked, so every round collects one contribution of each, in a drawn order. The round writes down what the
desk found when they came in.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weighbeam.engine.insight.attacks import SUSPICIOUS
from weighbeam.lab.chance import draw
from weighbeam.lab.world import Said, Turn
from weighbeam.lab.worlds.desk import Desk
from weighbeam.lab.worlds.statements import list_statements, list_words, reword
from weighbeam.mechanisms.abilities import COLLECTED
from weighbeam.mechanisms.contract import Answer, Asked, Group, Mechanism, Observation, Scored, Standing, Task
from weighbeam.mechanisms.make_params import make_params
from weighbeam.mechanisms.novelty.identity import write_embedded
from weighbeam.mechanisms.novelty.measure import Measured
from weighbeam.mechanisms.novelty.mechanism import Novelty
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.senses.local import LocalSenses

LEAST_NEW = 0.25
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
        self.senses = senses
        self.statements = list_statements(senses)
        self.words = list_words(self.statements)
        self._known: dict[str, Measured | None] = {}
        self.begin(0)

    def begin(self, seed: int) -> None:
        """An empty corpus, and the statements in another order."""
        order = draw(seed, "statements").permutation(len(self.statements))
        self._unsaid = [self.statements[place] for place in order]
        self._desk = Desk(self._rules, self.senses, self._known)
        self._thought: list[str] = []
        self._given: set[str] = set()
        self._refused: set[str] = set()
        self._names: dict[str, str] = {}
        self.said: tuple[str, ...] = ()

    def make_task(self, number: int, chance: np.random.Generator) -> Task:
        return Task(COLLECTED, {})

    def choose(self, standings: Sequence[Standing], hotkeys: Sequence[str], seed: str) -> Group:
        """All of them, in the order in which they come."""
        return Group(tuple(hotkeys[place] for place in draw(0, "order", seed).permutation(len(hotkeys))))

    def answer(self, turn: Turn) -> Said:
        """Something nobody has said, as often as skill allows; else something said before, in other words."""
        new = turn.chance.random() < LEAST_NEW + (1 - LEAST_NEW) * turn.me.skill
        if new or not self.said:
            return self.hand_in(turn, self.think())
        tries = (reword(self.recall(turn), turn.chance) for _ in range(TRIES))
        return self.hand_in(turn, next((text for text in tries if text not in self._given), self.recall(turn)))

    def think(self) -> str:
        """Something that nobody has said, as long as there is anything."""
        self._thought.append(self._unsaid.pop() if self._unsaid else self.statements[0])
        return self._thought[-1]

    def recall(self, turn: Turn) -> str:
        """Something that was new in an earlier round."""
        return self.said[int(turn.chance.integers(len(self.said)))] if self.said else self.statements[0]

    def hand_in(self, turn: Turn, text: str) -> Said:
        """Whose hotkey it is, is kept: pay goes to hotkeys, a trial is about who is behind them."""
        self._names[turn.hotkey] = turn.me.name
        return Said({"contributions": [text]}, 0.0)

    def count_tokens(self) -> dict[str, float]:
        """What everybody was paid this season."""
        earned: Counter[str] = Counter()
        for hotkey, units in self._desk.paid.items():
            earned[self._names[hotkey]] += units
        return {name: units / self._rules.base_units for name, units in earned.items()}

    def observe(self, asked: Asked) -> Observation:
        given = [text for answer in asked.answers for text in answer.payload["contributions"]]
        self.senses.embedder.embed([write_embedded(text) for text in given if text not in self._known])
        answers = tuple(replace(one, payload={"contributions": self._take(one, asked)}) for one in asked.answers)
        self.said, self._given = tuple(self._thought), self._given.union(given)
        self._refused = {one.hotkey for one in answers if not one.payload["contributions"]}
        return self.mechanism.observe(self.params, replace(asked, answers=answers), self.senses)

    def _take(self, answer: Answer, asked: Asked) -> list[dict[str, Any]]:
        """A text that cannot be taken is in no round."""
        taken = [
            self._desk.take(f"{asked.seed}/{answer.hotkey}", answer.hotkey, text, asked.at)
            for text in answer.payload["contributions"]
        ]
        return [event for event in taken if event is not None]

    def find_signs(self, observation: Observation, scored: Scored) -> Collection[str]:
        """Whose contribution was there before, is held or was refused."""
        return self._refused | {score.hotkey for score in scored.scores if SUSPICIOUS.intersection(score.reasons)}
