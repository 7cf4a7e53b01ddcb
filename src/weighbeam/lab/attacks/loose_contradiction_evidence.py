"""Sentences about something else, which a model takes for a denial."""

from typing import Any

import numpy as np

from weighbeam.core.quantise import MILLION
from weighbeam.lab.attack import Attack
from weighbeam.lab.world import Said, Turn, World
from weighbeam.lab.worlds.evidence import EvidenceWorld, list_statements
from weighbeam.lab.worlds.evidence_pool import choose_best, write_snippet
from weighbeam.lab.worlds.evidence_season import by_finders, enter
from weighbeam.mechanisms.contract import Task
from weighbeam.mechanisms.evidence.bank import find_archive
from weighbeam.miners.library import open_library
from weighbeam.miners.passages import Passage

SECONDS = 5.0
REACH = 40


class Strays:
    """Reads every page but those about the statement, and sends what a model is surest about."""

    def __init__(self) -> None:
        self._found: dict[str, list[dict[str, Any]]] = {}

    def answer(self, world: World, turn: Turn) -> Said:
        if turn.task.id not in self._found:
            self._found[turn.task.id] = stray(enter(world), turn.task)
        return Said({"snippets": self._found[turn.task.id]}, SECONDS)


def stray(world: EvidenceWorld, task: Task) -> list[dict[str, Any]]:
    finds = world.judge(task, find_near(world, task)[:REACH])
    best = choose_best(finds, [find.worth for find in finds], world.params.max_snippets)
    return [write_snippet(find.passage) for find in best]


def find_near(world: EvidenceWorld, task: Task) -> list[Passage]:
    """Passages of pages about other matters that are just near enough not to count as unrelated, the nearest first."""
    statement = task.body["statement"]
    about = next(row["pages"] for row in list_statements() if row["statement"] == statement)
    others = [passage for passage in open_library(find_archive()).passages if passage.url not in about]
    vectors = world.senses.embedder.embed([statement, *(passage.text for passage in others)]).astype(np.float64)
    near = vectors[1:] @ vectors[0] / MILLION**2
    return [others[place] for place in np.argsort(-near, kind="stable") if near[place] > world.params.relevance_floor]


ATTACKS = (
    Attack(
        family="loose-contradiction",
        mechanism="evidence",
        what="A miner leaves out every page about the statement. Among the sentences of all other pages it sends "
        "those that a language model takes most surely for a contradiction, from as many sites as it can.",
        against="A passage must be near enough to the statement: a cosine of 0.20 with it, in the default parameters.",
        open="It pays more than anything else, twice what the best honest work does, and nothing shows: whatever is "
        "not neutral counts, and the built-in model calls much a contradiction that is merely about something else. A "
        "relevance_floor of 0.4 takes most of it away, and makes more honest answers look like copies. A larger model "
        "was not tried.",
        run=by_finders(Strays),
    ),
)
