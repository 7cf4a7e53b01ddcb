"""The verbs of the contract, each in a file of its own."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from keyword_recall.examples import example_rounds
from keyword_recall.explain import explain_score
from keyword_recall.observe import observe_round
from keyword_recall.params import RecallParams
from keyword_recall.question import read_question, report_round
from keyword_recall.score import recompute_score, score_round
from keyword_recall.stand import stand_after
from keyword_recall.task import generate_task, read_keywords
from keyword_recall.weigh import weigh_standings
from weighbeam.mechanisms.contract import (
    Asked,
    Group,
    Node,
    Observation,
    Params,
    Scored,
    Seed,
    Stage,
    Standing,
    Task,
    WeighRule,
    Weights,
)
from weighbeam.senses.ports import Senses


class KeywordRecall:
    """Say in few words what names every keyword."""

    name = "keyword-recall"
    kind: Literal["asked", "collected"] = "asked"
    better: Literal["lower", "higher"] = "higher"
    params_type: type[Params] = RecallParams
    rule = WeighRule(gate="always", exclude_permits=False)

    def choose(
        self,
        params: RecallParams,
        standings: Sequence[Standing],
        miners: Sequence[str],
        seed: Seed,
        wanted: Sequence[str] = (),
    ) -> Group:
        return Group(tuple(sorted(miners)))

    def generate_task(self, params: RecallParams, seed: Seed) -> Task:
        return generate_task(seed)

    def read_task(self, params: RecallParams, name: str, text: str) -> Task:
        return Task(name, {"keywords": read_keywords({"keywords": text.split()})})

    def pose(self, params: RecallParams, task: Task) -> Mapping[str, Any]:
        return {"keywords": read_keywords(task.body)}

    def ask_seconds(self, params: RecallParams) -> float:
        return params.timeout

    def name_senses(self, params: RecallParams, senses: Senses) -> Mapping[str, Any]:
        return {}

    def observe(self, params: RecallParams, asked: Asked, senses: Senses) -> Observation:
        return observe_round(asked)

    def score(self, params: RecallParams, observation: Observation) -> Scored:
        return score_round(params, observation)

    def recompute(self, parts: Mapping[str, Any]) -> float:
        return recompute_score(parts)

    def bounds(self, params: RecallParams) -> tuple[float, float]:
        return 0.0, 1.0

    def stand(self, params: RecallParams, standings: Sequence[Standing], scored: Scored) -> tuple[Standing, ...]:
        return stand_after(params, standings, scored)

    def weigh(self, params: RecallParams, standings: Sequence[Standing], eligible: Collection[str]) -> Weights:
        return weigh_standings(standings, eligible)

    def best(self, params: RecallParams, observation: Observation, scored: Scored) -> str | None:
        valid = [score for score in scored.scores if score.status == "valid"]
        return max(valid, key=lambda score: (score.value or 0.0, score.hotkey)).hotkey if valid else None

    def explain(self, params: RecallParams, observation: Observation, scored: Scored, hotkey: str) -> Node:
        return explain_score(observation, scored, hotkey)

    def examples(self) -> Sequence[Asked]:
        return example_rounds()

    def read_question(self, data: Mapping[str, Any]) -> Asked:
        return read_question(data)

    def report(self, params: RecallParams, observation: Observation, scored: Scored) -> dict[str, Any]:
        return report_round(scored)

    def stages(self) -> Mapping[str, Stage]:
        return {"keyword-recall.recompute": lambda given: {"value": recompute_score(given["parts"])}}
