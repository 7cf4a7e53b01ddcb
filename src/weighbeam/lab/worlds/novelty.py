"""The world of novelty: a corpus that grows for a season, and contributors who have more or less that is new.

Nobody is asked, so every round collects one contribution of each, in a drawn order. Each is measured, judged and paid
when it comes in, as at a desk; the round writes down what was found then.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.insight.attacks import SUSPICIOUS
from weighbeam.lab.chance import draw
from weighbeam.lab.world import Said, Turn
from weighbeam.lab.worlds.statements import list_statements, reword
from weighbeam.mechanisms.contract import COLLECTED, Answer, Asked, Group, Observation, Scored, Standing, Task
from weighbeam.mechanisms.novelty.events import Event
from weighbeam.mechanisms.novelty.identity import write_embedded
from weighbeam.mechanisms.novelty.measure import Measured, measure_text
from weighbeam.mechanisms.novelty.mechanism import Novelty
from weighbeam.mechanisms.novelty.observe import REFUSALS, make_event
from weighbeam.mechanisms.novelty.order import Contribution, Line
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.senses.local import LocalSenses

HONEST = 12
LEAST_NEW = 0.25
"""How much of what the least skilled says is new."""
TRIES = 8
"""Asking whether a text is known costs nothing, so who says something again says it differently."""


class NoveltyWorld:
    """`said` are the new things of earlier rounds, for all to read; `paid` is what each hotkey got, in units."""

    def __init__(self, params: Mapping[str, Any], senses: LocalSenses) -> None:
        self.mechanism = Novelty()
        self.params = NoveltyParams(**params)
        self.honest = HONEST
        self.senses = senses
        self.statements = list_statements(senses)
        self._known: dict[str, Measured | None] = {}
        self.begin(0)

    def begin(self, seed: int) -> None:
        """An empty corpus, and the statements in another order."""
        order = draw(seed, "statements").permutation(len(self.statements))
        self._unsaid = [self.statements[place] for place in order]
        self._line = Line(self.params)
        self._refused: set[str] = set()
        self._thought: list[str] = []
        self._given: set[str] = set()
        self.said: tuple[str, ...] = ()
        self.paid: Counter[str] = Counter()
        self.names: dict[str, str] = {}

    def make_task(self, number: int, chance: np.random.Generator) -> Task:
        return Task(COLLECTED, {})

    def choose(self, standings: Sequence[Standing], hotkeys: Sequence[str], seed: str) -> Group:
        """All of them, in the order in which they come."""
        order = draw(0, "order", seed).permutation(len(hotkeys))
        return Group(tuple(hotkeys[place] for place in order))

    def answer(self, turn: Turn) -> Said:
        """Something nobody has said, as often as skill allows; else something said before, in other words."""
        self.note(turn)
        new = turn.chance.random() < LEAST_NEW + (1 - LEAST_NEW) * turn.me.skill
        if new or not self.said:
            return say(self.think())
        tries = (reword(self.recall(turn), turn.chance) for _ in range(TRIES))
        return say(next((text for text in tries if text not in self._given), self.recall(turn)))

    def think(self) -> str:
        """Something that nobody has said, as long as there is anything."""
        self._thought.append(self._unsaid.pop() if self._unsaid else self.statements[0])
        return self._thought[-1]

    def recall(self, turn: Turn) -> str:
        """Something that was new in an earlier round."""
        return self.said[int(turn.chance.integers(len(self.said)))] if self.said else self.statements[0]

    def note(self, turn: Turn) -> None:
        """Whose hotkey it is: pay goes to hotkeys, trials are about people."""
        self.names[turn.hotkey] = turn.me.name

    def count_tokens(self) -> dict[str, float]:
        """What everybody was paid this season."""
        earned: Counter[str] = Counter()
        for hotkey, units in self.paid.items():
            earned[self.names[hotkey]] += units
        return {name: units / self.params.base_units for name, units in earned.items()}

    def observe(self, asked: Asked) -> Observation:
        self._refused = set()
        given = [text for answer in asked.answers for text in answer.payload["contributions"]]
        self.senses.embedder.embed([write_embedded(text) for text in given if text not in self._known])
        taken = [(answer, self._take_all(answer, asked)) for answer in asked.answers]
        self.said, self._given = tuple(self._thought), self._given.union(given)
        answers = tuple(replace(answer, payload={"contributions": events}) for answer, events in taken)
        return self.mechanism.observe(self.params, replace(asked, answers=answers), self.senses)

    def _take_all(self, answer: Answer, asked: Asked) -> list[dict[str, Any]]:
        """What a hotkey hands in, one after the other; a text that cannot be taken is in no round."""
        events = []
        for number, text in enumerate(answer.payload["contributions"]):
            measured = self._measure(text)
            if measured is None:
                self._refused.add(answer.hotkey)
            else:
                events.append(self._take(f"{asked.seed}/{answer.hotkey}/{number}", answer.hotkey, measured, asked.at))
        return events

    def _take(self, id: str, hotkey: str, measured: Measured, at: float | None) -> dict[str, Any]:
        found = self._line.take(Contribution(id, hotkey, measured.text, measured.vectors, not measured.doubts))
        near, judged = found.neighbour, found.judgement
        if judged.status == "paid":
            self.paid[hotkey] += judged.units
        duplicate = judged.status == "duplicate"
        event: Event = make_event(id, measured, near.id if near else None, near.micro if near else None, duplicate)
        return replace(event, status=judged.status, units=judged.units, at=at).as_json()

    def _measure(self, text: str) -> Measured | None:
        """None if it is refused; each text is looked at once."""
        if text not in self._known:
            try:
                self._known[text] = measure_text(text, self.params, self.senses)
            except WeighbeamError as refusal:
                if refusal.code not in REFUSALS:
                    raise
                self._known[text] = None
        return self._known[text]

    def find_signs(self, observation: Observation, scored: Scored) -> Collection[str]:
        """Whose contribution was there before, is held or was refused."""
        return self._refused | {score.hotkey for score in scored.scores if SUSPICIOUS.intersection(score.reasons)}


def say(text: str) -> Said:
    return Said({"contributions": [text]}, 0.0)
