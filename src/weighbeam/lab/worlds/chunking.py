"""The world of chunking: documents of several topics, and miners that find the borders more or less well.

So many miners that the groups of the mechanism's own size are three: who hides from good opponents has where to go.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from weighbeam.engine.insight.attacks import SUSPICIOUS
from weighbeam.lab.world import Said, Turn
from weighbeam.lab.worlds.cutting import CHUNK_QTY, CHUNK_SIZE, Known, cut_with_skill, make_documents
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.contract import Asked, Group, Mechanism, Observation, Scored, Standing, Task
from weighbeam.mechanisms.make_params import make_params
from weighbeam.senses.local import LocalSenses

LEAST_SECONDS, MORE_SECONDS = 1.0, 0.6


class ChunkingWorld:
    """Observed and judged by the mechanism itself, with the senses that a validator has."""

    honest = 48

    def __init__(self, params: Mapping[str, Any], senses: LocalSenses) -> None:
        self.mechanism: Mechanism = Chunking()
        self.params = make_params(self.mechanism, params)
        self.senses = senses
        self.documents = make_documents(senses)

    def begin(self, seed: int) -> None:
        """No season leaves anything behind."""

    def make_task(self, number: int, chance: np.random.Generator) -> Task:
        place = int(chance.integers(len(self.documents)))
        body = {"document": self.documents[place].text, "chunk_size": CHUNK_SIZE, "chunk_qty": CHUNK_QTY}
        return Task(f"document-{place}", body)

    def _find_document(self, task: Task) -> Known:
        return self.documents[int(task.id.removeprefix("document-"))]

    def choose(self, standings: Sequence[Standing], hotkeys: Sequence[str], seed: str) -> Group:
        return self.mechanism.choose(self.params, standings, hotkeys, seed)

    def answer(self, turn: Turn) -> Said:
        """The true borders, with errors; who finds fewer of them is slower as well."""
        chunks = cut_with_skill(self._find_document(turn.task), turn.me.skill, turn.chance)
        seconds = LEAST_SECONDS + MORE_SECONDS * (2 - turn.me.skill) * turn.chance.exponential()
        return Said({"chunks": chunks}, float(seconds))

    def observe(self, asked: Asked) -> Observation:
        return self.mechanism.observe(self.params, asked, self.senses)

    def find_signs(self, observation: Observation, scored: Scored) -> Collection[str]:
        """Who gave what another gave, or words that are no chunking."""
        miners = observation.facts["miners"]
        given = Counter(miner["answer"] for miner in miners)
        copied = {miner["hotkey"] for miner in miners if given[miner["answer"]] > 1}
        return copied | {score.hotkey for score in scored.scores if SUSPICIOUS.intersection(score.reasons)}
