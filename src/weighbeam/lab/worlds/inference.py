"""Inference as a season plays it: prompts with prepared answers, from thorough to thin.

The more skill a miner has, the more often it finds the good ones.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from weighbeam.lab.world import Said, Turn
from weighbeam.lab.worlds.ladder import read_ladders
from weighbeam.mechanisms.contract import Asked, Group, Mechanism, Observation, Scored, Standing, Task
from weighbeam.mechanisms.inference.mechanism import Inference
from weighbeam.mechanisms.inference.prompts import read_bank
from weighbeam.mechanisms.make_params import make_params
from weighbeam.senses.local import LocalSenses

AGAINST = frozenset({"off_topic", "echo", "not_prose", "thin", "empty", "contradicts"})
SCATTER = 1.5
"""How far, in places of the bank, an honest answer misses what its miner's skill would find."""
SECONDS, SPREAD = 4.0, 0.35


class InferenceWorld:
    """Twelve honest miners; each round asks ten of all. No two honest miners of a round give the same answer."""

    honest = 12

    def __init__(self, params: Mapping[str, Any], senses: LocalSenses) -> None:
        self.mechanism: Mechanism = Inference()
        self.params = make_params(self.mechanism, params)
        self.senses = senses
        self._prompts = {row["id"]: row["prompt"] for row in read_bank() if row["id"] in read_ladders()}
        self._taken: dict[int, set[int]] = {}

    def begin(self, seed: int) -> None:
        self._taken = {}

    def make_task(self, number: int, chance: np.random.Generator) -> Task:
        name = sorted(self._prompts)[chance.integers(len(self._prompts))]
        return Task(name, {"prompt": self._prompts[name]})

    def choose(self, standings: Sequence[Standing], hotkeys: Sequence[str], seed: str) -> Group:
        return self.mechanism.choose(self.params, standings, hotkeys, seed)

    def answer(self, turn: Turn) -> Said:
        """The free answer nearest to what skill and luck find; the surer, the better it is meant to be."""
        bank = read_ladders()[turn.task.id]
        taken = self._taken.setdefault(turn.round, set())
        place = (1 - turn.me.skill) * (len(bank) - 1) + turn.chance.normal(0, SCATTER)
        free = [number for number in range(len(bank)) if number not in taken] or list(range(len(bank)))
        number = min(free, key=lambda one: abs(one - place))
        taken.add(number)
        sure = min(1.0, max(0.0, 0.5 + 0.3 * turn.me.skill + turn.chance.normal(0, 0.1)))
        return Said({"text": bank[number], "confidence": round(sure, 3)}, self.take_time(turn))

    def take_time(self, turn: Turn) -> float:
        """How long it takes to think: about four seconds."""
        return float(SECONDS * np.exp(turn.chance.normal(0, SPREAD)))

    def observe(self, asked: Asked) -> Observation:
        return self.mechanism.observe(self.params, asked, self.senses)

    def find_signs(self, observation: Observation, scored: Scored) -> Collection[str]:
        """Whoever is flagged or contradicts, and all of a group of copies: nobody can tell who copied whom."""
        copies = {hotkey for group in scored.summary["copies"] for hotkey in group["hotkeys"]}
        return copies | {score.hotkey for score in scored.scores if AGAINST.intersection(score.reasons)}
