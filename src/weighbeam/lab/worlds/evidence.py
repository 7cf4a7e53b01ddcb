"""Evidence as a season plays it: statements of the bank, the pages of the archive, and miners who judge what they find
the better the more skill they have."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weighbeam.engine.insight.attacks import SUSPICIOUS
from weighbeam.lab.world import Said, Turn
from weighbeam.lab.worlds.evidence_pool import Find, choose_best, write_snippet
from weighbeam.lab.worlds.observe_once import SEED, SnippetMemory
from weighbeam.lab.worlds.saved_web import open_web
from weighbeam.mechanisms.contract import Answer, Asked, Group, Observation, Scored, Standing, Task
from weighbeam.mechanisms.evidence.bank import find_archive, read_bank
from weighbeam.mechanisms.evidence.mechanism import Evidence
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.score import judge_round
from weighbeam.mechanisms.make_params import make_params
from weighbeam.miners.library import open_library
from weighbeam.miners.passages import Passage
from weighbeam.senses.local import LocalSenses

EVERY = 3
REACH = 36
"""How many passages a search brings: about what two pages have to say."""
BEGIN = 1_790_000_000.0
"""When seasons begin, so that the lists of the archive are in force."""
EDITIONS = 4
"""At how many addresses each page stands. The archive has two pages for a statement, and the web has more: with one
address each, nearly half of all honest answers would count as copies."""
TASTE, BLUR = 0.15, 0.6
"""How far anybody misjudges what a passage says, and how much further one without skill does."""
SECONDS, SLOWER, SPREAD = 5.0, 15.0, 0.3


class EvidenceWorld:
    """Sixteen honest miners, of whom a round asks five."""

    honest = 16

    def __init__(self, params: Mapping[str, Any], senses: LocalSenses) -> None:
        self.mechanism = Evidence()
        self.params = EvidenceParams(**make_params(self.mechanism, params).model_dump())
        self.senses = open_web(senses)
        self.memory = SnippetMemory(self.params, self.senses)
        self._tasks = self.list_tasks()
        self._pools: dict[str, tuple[Find, ...]] = {}

    def list_tasks(self) -> list[Task]:
        """What is asked about."""
        return [Task(f"statement-{row['id']}", {"statement": row["statement"]}) for row in list_statements()]

    def begin(self, seed: int) -> None:
        """Nothing to forget."""

    def make_task(self, number: int, chance: np.random.Generator) -> Task:
        return self._tasks[chance.integers(len(self._tasks))]

    def choose(self, standings: Sequence[Standing], hotkeys: Sequence[str], seed: str) -> Group:
        return self.mechanism.choose(self.params, standings, hotkeys, seed)

    def answer(self, turn: Turn) -> Said:
        chosen = self.choose_finds(turn, self.find(turn.task))
        return Said(self.quote(turn, chosen), self.take_time(turn))

    def choose_finds(self, turn: Turn, finds: Sequence[Find]) -> list[Find]:
        """The five that seem to say most, each judged with the miner's own error."""
        errors = turn.chance.normal(0, TASTE + BLUR * (1 - turn.me.skill), len(finds))
        worth = [find.multiplier * (find.local + error) for find, error in zip(finds, errors, strict=True)]
        return choose_best(finds, worth, self.params.max_snippets)

    def quote(self, turn: Turn, finds: Sequence[Find]) -> dict[str, Any]:
        """Passages as they are cited, each in the edition that this miner came across."""
        editions = turn.chance.integers(EDITIONS, size=len(finds)).tolist()
        cited = zip(finds, editions, strict=True)
        return {"snippets": [write_snippet(find.passage, edition) for find, edition in cited]}

    def take_time(self, turn: Turn) -> float:
        """How long it takes to search and read: five seconds for the best, twenty for the worst, more or less."""
        return float((SECONDS + SLOWER * (1 - turn.me.skill)) * np.exp(turn.chance.normal(0, SPREAD)))

    def find(self, task: Task) -> tuple[Find, ...]:
        """What a search of the archive brings, and what is in it."""
        if task.id not in self._pools:
            found = open_library(find_archive()).search(task.body["statement"])[:REACH]
            self._pools[task.id] = self.judge(task, [one.passage for one in found])
        return self._pools[task.id]

    def judge(self, task: Task, passages: Sequence[Passage]) -> tuple[Find, ...]:
        """What the mechanism makes of passages."""
        snippets = [write_snippet(passage) for passage in passages]
        answers = tuple(Answer(str(place), {"snippets": [one]}) for place, one in enumerate(snippets))
        group = Group(tuple(answer.hotkey for answer in answers))
        seen = self.memory.observe(Asked(task, group, answers, SEED, at=BEGIN))
        return tuple(
            Find(passage, judged.verdicts[0].local or 0.0, self._count_site(judged.facts["snippets"][0]["url"]))
            for passage, judged in zip(passages, judge_round(self.params, seen), strict=True)
        )

    def _count_site(self, url: Mapping[str, Any]) -> float:
        """How often a site counts, which everybody can look up."""
        return self.params.approved_multiplier if url["approved"] else 1.0

    def observe(self, asked: Asked) -> Observation:
        return self.memory.observe(replace(asked, at=BEGIN + (asked.at or 0.0)))

    def find_signs(self, observation: Observation, scored: Scored) -> Collection[str]:
        """Whoever gives the mechanism a reason that operators are told to look at: forged, copied, searched for."""
        return {score.hotkey for score in scored.scores if SUSPICIOUS.intersection(score.reasons)}


def list_statements() -> list[dict[str, Any]]:
    """Every third of the statements in the bank that its pages decide."""
    return [row for row in read_bank() if row["expect"] != "undecidable"][::EVERY]
