"""A lab world for a mechanism that declares none: its example round, played again and again.

Miners send the example's valid answers. They are ordered by what the mechanism itself pays for them, so a miner of
more skill sends a better one; attacks and sweeps then work as they do for any other mechanism.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.simulate.world import MinerTurn, SimulatedAnswer
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.records import Asked, Group, Observation, Scored, Standing, Task
from weighbeam.senses.ports.protocols import Senses

SLOWEST_SECONDS = 4.0


class ExampleWorld:
    """Every round asks the example's question."""

    honest = 16

    def __init__(self, mechanism: Mechanism, params: Mapping[str, Any], senses: Senses) -> None:
        rounds = mechanism.examples()
        if mechanism.kind == "collected" or not rounds:
            remedy = "override lab_world, or give the mechanism an example"
            raise WeighbeamError("unknown_world", f"the lab has no world for {mechanism.name!r}", remedy)
        self.mechanism = mechanism
        self.params = make_params(mechanism, params)
        self.senses = senses
        self.task = rounds[0].task
        self.payloads = self._order_payloads(rounds[0])

    def begin(self, seed: int) -> None:
        """No season leaves anything behind."""

    def make_task(self, number: int, chance: np.random.Generator) -> Task:
        return Task(f"{self.task.id}-{number}", self.task.body)

    def choose(self, standings: Sequence[Standing], hotkeys: Sequence[str], seed: str) -> Group:
        return self.mechanism.choose(self.params, standings, hotkeys, seed)

    def answer(self, turn: MinerTurn) -> SimulatedAnswer:
        place = min(int(turn.me.skill * len(self.payloads)), len(self.payloads) - 1)
        return SimulatedAnswer(self.payloads[place], 1.0 + (1.0 - turn.me.skill) * (SLOWEST_SECONDS - 1.0))

    def observe(self, asked: Asked) -> Observation:
        return self.mechanism.observe(self.params, asked, self.senses)

    def find_signs(self, observation: Observation, scored: Scored) -> Collection[str]:
        suspicious = self.mechanism.suspicious
        return [score.hotkey for score in scored.scores if any(code in suspicious for code in score.reasons)]

    def _order_payloads(self, example: Asked) -> list[Any]:
        """The valid answers, the worst first."""
        scored = self.mechanism.score(self.params, self.observe(example))
        sign = 1.0 if self.mechanism.better == "higher" else -1.0
        values = {score.hotkey: sign * (score.value or 0.0) for score in scored.scores if score.status == "valid"}
        sent = {answer.hotkey: answer.payload for answer in example.answers if answer.hotkey in values}
        if not sent:
            remedy = "add an answer that is scored to the example"
            raise WeighbeamError("unknown_world", f"no example answer of {self.mechanism.name!r} is valid", remedy)
        return [sent[hotkey] for hotkey in sorted(sent, key=lambda hotkey: (values[hotkey], hotkey))]
