"""Loose contradiction: sentences of approved sites about something else, which a model takes for a denial."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weighbeam.core.quantise import MILLION
from weighbeam.lab.attack import Attack
from weighbeam.lab.world import Said, Turn, World
from weighbeam.lab.worlds.evidence import EvidenceWorld, list_statements
from weighbeam.lab.worlds.evidence_pool import choose_best, write_snippet
from weighbeam.lab.worlds.evidence_season import by_finders
from weighbeam.mechanisms.contract import Task
from weighbeam.mechanisms.evidence.bank import find_archive
from weighbeam.miners.library import open_library

SECONDS = 2.0
REACH = 60
ABOVE = 0.01


@dataclass(slots=True)
class Strays:
    """Reads every page but those about the statement, keeps what is just near enough, and sends what a model is surest
    about."""

    world: EvidenceWorld
    found: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def answer(self, world: World, turn: Turn) -> Said:
        if turn.task.id not in self.found:
            self.found[turn.task.id] = self._search(turn.task)
        return Said({"snippets": self.found[turn.task.id]}, SECONDS)

    def _search(self, task: Task) -> list[dict[str, Any]]:
        about = next(row["pages"] for row in list_statements() if row["statement"] == task.body["statement"])
        others = [one for one in open_library(find_archive()).passages if one.url not in about]
        vectors = self.world.senses.embedder.embed([task.body["statement"], *(one.text for one in others)])
        near = vectors[1:].astype(np.float64) @ vectors[0].astype(np.float64) / MILLION**2
        order = [place for place in np.argsort(-near) if near[place] > self.world.params.relevance_floor + ABOVE]
        finds = self.world.judge(task, [others[place] for place in order[:REACH]])
        worth = [one.multiplier * one.local for one in finds]
        return [write_snippet(one.passage) for one in choose_best(finds, worth, self.world.params.max_snippets)]


ATTACKS = (
    Attack(
        family="loose-contradiction",
        mechanism="evidence",
        what="",
        against="",
        open="",
        run=by_finders(Strays),
    ),
)
