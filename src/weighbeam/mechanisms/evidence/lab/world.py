"""The lab world of evidence: statements of the bank, archived pages, a memory of observed snippets, and miners of
graded skill.

A season repeats its statements. The mechanism observes new snippets of a round, and their
facts are joined with recorded ones; only durations are not measured again.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weighbeam.lab.simulate.world import MinerTurn, SimulatedAnswer
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.records import Answer, Asked, Group, Observation, Scored, Standing, Task
from weighbeam.mechanisms.evidence.judge.payload import ParsedPayload, parse_payload
from weighbeam.mechanisms.evidence.judge.snippet import SnippetVerdict
from weighbeam.mechanisms.evidence.lab.pool import EvidenceFind, choose_best, format_snippet
from weighbeam.mechanisms.evidence.lab.saved_web import open_web
from weighbeam.mechanisms.evidence.mechanism import Evidence
from weighbeam.mechanisms.evidence.miners.library import open_library
from weighbeam.mechanisms.evidence.miners.passages import QuotablePassage
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.score import judge_round
from weighbeam.mechanisms.evidence.task import find_archive, load_bank
from weighbeam.senses.local import LocalSenses
from weighbeam.senses.ports.protocols import Senses

SEED = "lab"
"""The one seed of all observing: texts that probe a model follow from it, and need not be embedded again."""
Key = tuple[str, str | None, str | None]


class SnippetMemory:
    """The facts of every snippet a world has seen, by statement, URL and excerpt."""

    def __init__(self, params: EvidenceParams, senses: Senses) -> None:
        self._mechanism, self._params, self._senses = Evidence(), params, senses
        self._seen: dict[Key, dict[str, Any]] = {}

    def observe(self, asked: Asked) -> Observation:
        """Observe, and leave out the texts of pages."""
        given = [parse_payload(answer, self._params.max_snippets) for answer in asked.answers]
        self.learn(asked.task, asked.at, [entry for one in given for entry in one.entries])
        bare = tuple(_strip(answer, one) for answer, one in zip(asked.answers, given, strict=True))
        frame = self._mechanism.observe(self._params, replace(asked, answers=bare, seed=SEED), self._senses).facts
        statement = asked.task.body["statement"]
        miners = [
            {
                **row,
                "snippets": [self._seen[statement, entry["url"], entry["excerpt"]] for entry in one.entries],
                "extra": one.extra,
            }
            for row, one in zip(frame["miners"], given, strict=True)
        ]
        return Observation({**frame, "seed": asked.seed, "miners": miners})

    def learn(self, task: Task, at: float | None, entries: Iterable[dict[str, Any]]) -> None:
        """Observe what is new, all at once: each snippet as the answer of somebody."""
        statement = task.body["statement"]
        keys = {(statement, entry["url"], entry["excerpt"]): entry for entry in entries}
        new = [(key, entry) for key, entry in keys.items() if key not in self._seen]
        if new:
            answers = [Answer(str(place), {"snippets": [entry]}) for place, (_, entry) in enumerate(new)]
            rows = self._ask(task, at, answers)
            self._seen.update({key: row["snippets"][0] for (key, _), row in zip(new, rows, strict=True)})

    def _ask(self, task: Task, at: float | None, answers: Sequence[Answer]) -> list[dict[str, Any]]:
        group = Group(tuple(answer.hotkey for answer in answers))
        asked = Asked(task, group, tuple(answers), SEED, at=at)
        rows: list[dict[str, Any]] = self._mechanism.observe(self._params, asked, self._senses).facts["miners"]
        return rows


def _strip(answer: Answer, given: ParsedPayload) -> Answer:
    """The answer without its snippets; one that has none stays what it is."""
    return replace(answer, payload={"snippets": []}) if given.entries else answer


EVERY = 3
REACH = 36
"""How many passages a search brings: about what two pages have to say."""
BEGIN = 1_790_000_000.0
"""When seasons begin, so that the lists of the archive are in force."""
EDITIONS = 4
"""At how many addresses each page stands. The archive has two pages for a statement, and the web has more: with one
address each, nearly half of all honest answers would count as copies."""
TASTE, BLUR = 0.15, 0.6
"""Error of a skilled miner in judging a passage, and the added error without skill."""
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
        self._pools: dict[str, tuple[EvidenceFind, ...]] = {}

    def list_tasks(self) -> list[Task]:
        """Tasks of the season."""
        return [Task(f"statement-{row['id']}", {"statement": row["statement"]}) for row in list_statements()]

    def begin(self, seed: int) -> None:
        """Nothing to forget."""

    def make_task(self, number: int, chance: np.random.Generator) -> Task:
        return self._tasks[chance.integers(len(self._tasks))]

    def choose(self, standings: Sequence[Standing], hotkeys: Sequence[str], seed: str) -> Group:
        return self.mechanism.choose(self.params, standings, hotkeys, seed)

    def answer(self, turn: MinerTurn) -> SimulatedAnswer:
        chosen = self.choose_finds(turn, self.find(turn.task))
        return SimulatedAnswer(self.quote(turn, chosen), self.take_time(turn))

    def choose_finds(self, turn: MinerTurn, finds: Sequence[EvidenceFind]) -> list[EvidenceFind]:
        """The five that seem to say most, each judged with the miner's own error."""
        errors = turn.chance.normal(0, TASTE + BLUR * (1 - turn.me.skill), len(finds))
        worth = [find.multiplier * (find.local + error) for find, error in zip(finds, errors, strict=True)]
        return choose_best(finds, worth, self.params.max_snippets)

    def quote(self, turn: MinerTurn, finds: Sequence[EvidenceFind]) -> dict[str, Any]:
        """Passages as they are cited, each in the edition that this miner came across."""
        editions = turn.chance.integers(EDITIONS, size=len(finds)).tolist()
        cited = zip(finds, editions, strict=True)
        return {"snippets": [format_snippet(find.passage, edition) for find, edition in cited]}

    def take_time(self, turn: MinerTurn) -> float:
        """How long it takes to search and read: five seconds for the best, twenty for the worst, more or less."""
        return float((SECONDS + SLOWER * (1 - turn.me.skill)) * np.exp(turn.chance.normal(0, SPREAD)))

    def find(self, task: Task) -> tuple[EvidenceFind, ...]:
        """Passages that a search of the archive finds."""
        if task.id not in self._pools:
            found = open_library(find_archive()).search(task.body["statement"])[:REACH]
            self._pools[task.id] = self.judge(task, [one.passage for one in found])
        return self._pools[task.id]

    def judge(self, task: Task, passages: Sequence[QuotablePassage]) -> tuple[EvidenceFind, ...]:
        """Judge passages by the mechanism's rules."""
        snippets = [format_snippet(passage) for passage in passages]
        answers = tuple(Answer(str(place), {"snippets": [one]}) for place, one in enumerate(snippets))
        group = Group(tuple(answer.hotkey for answer in answers))
        seen = self.memory.observe(Asked(task, group, answers, SEED, at=BEGIN))
        return tuple(
            EvidenceFind(passage, count_local(judged.verdicts[0]), self._count_site(judged.facts["snippets"][0]["url"]))
            for passage, judged in zip(passages, judge_round(self.params, seen), strict=True)
        )

    def _count_site(self, url: Mapping[str, Any]) -> float:
        """How often a site counts, which everybody can look up."""
        return self.params.approved_multiplier if url["approved"] else 1.0

    def observe(self, asked: Asked) -> Observation:
        return self.memory.observe(replace(asked, at=BEGIN + (asked.at or 0.0)))

    def find_signs(self, observation: Observation, scored: Scored) -> Collection[str]:
        """Miners with a suspicious reason: forged, copied, searched for."""
        return {score.hotkey for score in scored.scores if self.mechanism.suspicious.keys() & score.reasons}


def count_local(verdict: SnippetVerdict) -> float:
    """Paid value of a passage for or against the statement."""
    return (verdict.local or 0.0) * (verdict.relevance_factor or 0.0)


def list_statements() -> list[dict[str, Any]]:
    """Every third of the statements in the bank that its pages decide."""
    return [row for row in load_bank() if row["expect"] != "undecidable"][::EVERY]
