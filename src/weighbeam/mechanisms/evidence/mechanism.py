"""The evidence mechanism: the verbs of the contract, each in a file of its own."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from weighbeam.mechanisms.abilities import Advice, Pair
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
from weighbeam.mechanisms.evidence.advise import advise_finder
from weighbeam.mechanisms.evidence.bank import generate_task, read_statement_text
from weighbeam.mechanisms.evidence.choose import choose_weighted
from weighbeam.mechanisms.evidence.examples import example_rounds
from weighbeam.mechanisms.evidence.explain import explain_score
from weighbeam.mechanisms.evidence.metrics import MEASURES
from weighbeam.mechanisms.evidence.observe import find_lists, name_senses, observe_round
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.question import read_question, report_round
from weighbeam.mechanisms.evidence.rank import rank_active
from weighbeam.mechanisms.evidence.read_by import READ_BY
from weighbeam.mechanisms.evidence.reasons import MEANINGS
from weighbeam.mechanisms.evidence.score import recompute, score_round
from weighbeam.mechanisms.evidence.spread import spread_responses
from weighbeam.mechanisms.evidence.stages_score import STAGES as STAGES_SCORE
from weighbeam.mechanisms.evidence.stages_text import STAGES_TEXT
from weighbeam.mechanisms.evidence.stand import find_seed, recall, stand_round
from weighbeam.mechanisms.evidence.task import read_statement
from weighbeam.mechanisms.evidence.weigh import find_payable, pay_ranks
from weighbeam.senses.ports import Senses


class Evidence:
    """Quote pages that support or contradict a statement."""

    name = "evidence"
    kind: Literal["asked", "collected"] = "asked"
    better: Literal["lower", "higher"] = "higher"
    params_type: type[Params] = EvidenceParams
    rule = WeighRule(standing="own", gate="asked", exclude_permits=True)
    measures = MEASURES
    meanings = MEANINGS
    read_by = READ_BY

    def choose(
        self,
        params: EvidenceParams,
        standings: Sequence[Standing],
        miners: Sequence[str],
        seed: Seed,
        wanted: Sequence[str] = (),
    ) -> Group:
        memories = {standing.hotkey: recall(standing) for standing in standings}
        return choose_weighted(memories, miners, seed, wanted, params)

    def generate_task(self, params: EvidenceParams, seed: Seed) -> Task:
        return generate_task(seed)

    def read_task(self, params: EvidenceParams, name: str, text: str) -> Task:
        return read_statement_text(name, text)

    def pose(self, params: EvidenceParams, task: Task) -> Mapping[str, Any]:
        return {"statement": read_statement(task.body), "max_snippets": params.max_snippets}

    def ask_seconds(self, params: EvidenceParams) -> float:
        return params.timeout_seconds

    def name_senses(self, params: EvidenceParams, senses: Senses) -> Mapping[str, Any]:
        """Asked before anyone is: lists that could not be used are refused here, and not when answers are in."""
        find_lists(senses, None)
        return name_senses(senses)

    def observe(self, params: EvidenceParams, asked: Asked, senses: Senses) -> Observation:
        return observe_round(params, asked, senses)

    def score(self, params: EvidenceParams, observation: Observation) -> Scored:
        return score_round(params, observation)

    def stand(self, params: EvidenceParams, standings: Sequence[Standing], scored: Scored) -> tuple[Standing, ...]:
        return stand_round(standings, scored, params)

    def weigh(self, params: EvidenceParams, standings: Sequence[Standing], eligible: Collection[str]) -> Weights:
        return self.weigh_burning(params, standings, eligible, None)

    def weigh_burning(
        self, params: EvidenceParams, standings: Sequence[Standing], eligible: Collection[str], burn: str | None
    ) -> Weights:
        """Integers that total 65,535; ties fall by the seed of the last round, which its standings carry."""
        memories = {standing.hotkey: recall(standing) for standing in standings}
        ranking = rank_active(memories, find_payable(memories, eligible, params), find_seed(standings))
        paid = pay_ranks(len(ranking), burn is not None, params)
        raw: dict[str, float] = {hotkey: float(units) for hotkey, units in zip(ranking, paid.miners, strict=True)}
        return Weights(raw if burn is None else {**raw, burn: float(paid.burn)})

    def spread(self, params: EvidenceParams, standing: Standing, course: Sequence[float]) -> float | None:
        return spread_responses(params, standing, course)

    def advise(self, params: EvidenceParams, pairs: Sequence[Pair]) -> tuple[Advice, ...]:
        return advise_finder(pairs)

    def recompute(self, parts: Mapping[str, Any]) -> float:
        return recompute(parts)

    def bounds(self, params: EvidenceParams) -> tuple[float, float]:
        worst = [value for name, value in params.model_dump().items() if name.startswith("penalty_")]
        floor = params.score_floor if params.score_floor is not None else 2 * params.max_snippets * min(worst)
        best = 2 * params.max_snippets * max(1.0, params.approved_multiplier)
        return min(floor, *worst), best

    def explain(self, params: EvidenceParams, observation: Observation, scored: Scored, hotkey: str) -> Node:
        return explain_score(params, observation, scored, hotkey)

    def examples(self) -> Sequence[Asked]:
        return example_rounds()

    def read_question(self, data: Mapping[str, Any]) -> Asked:
        return read_question(data)

    def report(self, params: EvidenceParams, observation: Observation, scored: Scored) -> dict[str, Any]:
        return report_round(params, observation, scored)

    def best(self, params: EvidenceParams, observation: Observation, scored: Scored) -> str | None:
        best: str | None = scored.summary["best"]
        return best

    def stages(self) -> Mapping[str, Stage]:
        return {**STAGES_TEXT, **STAGES_SCORE}
