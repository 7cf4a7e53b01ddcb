"""The lab world of inference: prompts with prepared answers of graded quality, and miners that find the good ones more
or less often.

The more skill a miner has, the more often it finds the good ones.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias

import numpy as np

from weighbeam.lab.simulate.world import MinerTurn, SimulatedAnswer
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.records import Asked, Group, Observation, Scored, Standing, Task
from weighbeam.mechanisms.inference.lab.references import answer_reference
from weighbeam.mechanisms.inference.mechanism import Inference
from weighbeam.mechanisms.inference.miners.contradict import SENTENCE
from weighbeam.mechanisms.inference.miners.prepared_answers import load_answers
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.reference.draw import draw_reference, is_drawn, make_task
from weighbeam.mechanisms.inference.reference.template import DrawnTask
from weighbeam.mechanisms.inference.task import load_bank
from weighbeam.senses.local import LocalSenses

Grade: TypeAlias = Literal["good", "plain", "weak"]


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """One answer and its intended quality, which the scorer never sees."""

    grade: Grade
    text: str


@cache
def load_graded() -> dict[str, tuple[GradedAnswer, ...]]:
    """Answers by prompt id, the best grade first, each worded by itself.

    >>> [answer.grade for answer in load_graded()["why-sky-is-blue"]]
    ['good', 'good', 'plain', 'plain', 'plain', 'weak', 'weak']
    """
    lines = (files("weighbeam.mechanisms.inference.lab") / "inference.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    return {row["id"]: tuple(GradedAnswer(each["grade"], each["text"]) for each in row["answers"]) for row in rows}


WHOLE = 3
"""Number of a prompt's five voices that are given whole; the others stop half way, as a plainer miner would."""


@cache
def load_ladders() -> dict[str, tuple[str, ...]]:
    """By prompt id: five thorough answers, five plain ones, two thin ones."""
    return {name: _build(name) for name in sorted(load_graded())}


def _build(name: str) -> tuple[str, ...]:
    graded, voices = load_graded()[name], load_answers()[name]
    good, plain, weak = ([one.text for one in graded if one.grade == grade] for grade in ("good", "plain", "weak"))
    return (*good, *voices[:WHOLE], *plain, *map(halve, voices[WHOLE:]), *weak)


def halve(text: str) -> str:
    """The first half of a text's sentences, at least one.

    >>> halve("One. Two. Three.")
    'One. Two.'
    """
    sentences = SENTENCE.split(text)
    return " ".join(sentences[: (len(sentences) + 1) // 2])


AGAINST = frozenset({"off_topic", "echo", "not_prose", "gathers", "thin", "empty", "contradicts"})
SCATTER = 1.5
"""How far, in places of the bank, an honest answer misses what its miner's skill would find."""
SECONDS, SPREAD = 4.0, 0.35
LEAST_RIGHT = 0.7
"""How often the least skilled honest miner is right where the right answer is known; the best one always is."""


class InferenceWorld:
    """Twelve honest miners; each round asks ten of all. No two honest miners of a round give the same answer."""

    honest = 12

    def __init__(self, params: Mapping[str, Any], senses: LocalSenses) -> None:
        self.mechanism: Mechanism = Inference()
        made = make_params(self.mechanism, params)
        assert isinstance(made, InferenceParams)
        self.params = made
        self.senses = senses
        self._prompts = {row["id"]: row["prompt"] for row in load_bank() if row["id"] in load_ladders()}
        self._taken: dict[int, set[int]] = {}
        self._drawn: dict[str, DrawnTask] = {}

    def begin(self, seed: int) -> None:
        self._taken, self._drawn = {}, {}

    def make_task(self, number: int, chance: np.random.Generator) -> Task:
        name = sorted(self._prompts)[chance.integers(len(self._prompts))]
        seed = f"{chance.integers(1 << 60):x}"
        if is_drawn(self.params.reference_share, seed):
            drawn = draw_reference(seed, entailment=False)
            task = make_task(drawn)
            self._drawn[task.id] = drawn
            return task
        return Task(name, {"prompt": self._prompts[name]})

    def answer_known(self, turn: MinerTurn, right: float) -> str | None:
        """An answer to a task with a reference that is right as often as that; None to any other task."""
        drawn = self._drawn.get(turn.task.id)
        if drawn is None:
            return None
        return answer_reference(drawn, bool(turn.chance.random() < right), turn.chance)

    def choose(self, standings: Sequence[Standing], hotkeys: Sequence[str], seed: str) -> Group:
        return self.mechanism.choose(self.params, standings, hotkeys, seed)

    def answer(self, turn: MinerTurn) -> SimulatedAnswer:
        """The free answer nearest to what skill and luck find; the surer, the better it is meant to be."""
        known = self.answer_known(turn, LEAST_RIGHT + (1 - LEAST_RIGHT) * turn.me.skill)
        if known is not None:
            return SimulatedAnswer({"text": known, "confidence": 0.7}, self.take_time(turn))
        bank = load_ladders()[turn.task.id]
        taken = self._taken.setdefault(turn.round, set())
        place = (1 - turn.me.skill) * (len(bank) - 1) + turn.chance.normal(0, SCATTER)
        free = [number for number in range(len(bank)) if number not in taken] or list(range(len(bank)))
        number = min(free, key=lambda one: abs(one - place))
        taken.add(number)
        sure = min(1.0, max(0.0, 0.5 + 0.3 * turn.me.skill + turn.chance.normal(0, 0.1)))
        return SimulatedAnswer({"text": bank[number], "confidence": round(sure, 3)}, self.take_time(turn))

    def take_time(self, turn: MinerTurn) -> float:
        """How long it takes to think: about four seconds."""
        return float(SECONDS * np.exp(turn.chance.normal(0, SPREAD)))

    def observe(self, asked: Asked) -> Observation:
        return self.mechanism.observe(self.params, asked, self.senses)

    def find_signs(self, observation: Observation, scored: Scored) -> Collection[str]:
        """Miners that are flagged or contradict, and all of a group of copies, since the original is unknown."""
        copies = {hotkey for group in scored.summary["copies"] for hotkey in group["hotkeys"]}
        return copies | {score.hotkey for score in scored.scores if AGAINST.intersection(score.reasons)}
