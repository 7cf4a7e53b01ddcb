"""The novelty mechanism: the verbs of the contract. Nobody is asked: contributions are collected."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.abilities import MOST_COLLECTED, Advice, Pair
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
from weighbeam.mechanisms.novelty.advise import advise_contributor
from weighbeam.mechanisms.novelty.examples import example_rounds
from weighbeam.mechanisms.novelty.explain import explain_contributor
from weighbeam.mechanisms.novelty.observe import name_senses, observe_round
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.question import read_question, report_round
from weighbeam.mechanisms.novelty.read_by import READ_BY
from weighbeam.mechanisms.novelty.reasons import MEANINGS
from weighbeam.mechanisms.novelty.reopen import reopen_round
from weighbeam.mechanisms.novelty.reward import reward_units
from weighbeam.mechanisms.novelty.score import score_round, sum_parts
from weighbeam.mechanisms.novelty.stages import STAGES
from weighbeam.mechanisms.novelty.stand import has_expired, stand_round
from weighbeam.senses.ports import Senses


class Novelty:
    """Say something that nobody has said before."""

    name = "novelty"
    kind: Literal["asked", "collected"] = "collected"
    better: Literal["lower", "higher"] = "higher"
    params_type: type[Params] = NoveltyParams
    rule = WeighRule(gate="none", exclude_permits=False)
    meanings = MEANINGS
    read_by = READ_BY

    def choose(
        self,
        params: NoveltyParams,
        standings: Sequence[Standing],
        miners: Sequence[str],
        seed: Seed,
        wanted: Sequence[str] = (),
    ) -> Group:
        raise _nobody_is_asked()

    def generate_task(self, params: NoveltyParams, seed: Seed) -> Task:
        raise _nobody_is_asked()

    def read_task(self, params: NoveltyParams, name: str, text: str) -> Task:
        raise _nobody_is_asked()

    def pose(self, params: NoveltyParams, task: Task) -> Mapping[str, Any]:
        raise _nobody_is_asked()

    def ask_seconds(self, params: NoveltyParams) -> float:
        return 0.0

    def name_senses(self, params: NoveltyParams, senses: Senses) -> Mapping[str, Any]:
        return name_senses(senses)

    def observe(self, params: NoveltyParams, asked: Asked, senses: Senses) -> Observation:
        return observe_round(params, asked, senses)

    def score(self, params: NoveltyParams, observation: Observation) -> Scored:
        return score_round(params, observation)

    def stand(self, params: NoveltyParams, standings: Sequence[Standing], scored: Scored) -> tuple[Standing, ...]:
        return stand_round(params, standings, scored)

    def weigh(self, params: NoveltyParams, standings: Sequence[Standing], eligible: Collection[str]) -> Weights:
        """In proportion to the units of the window."""
        return Weights({s.hotkey: s.value or 0.0 for s in standings if s.hotkey in eligible})

    def reopen(self, params: NoveltyParams, observation: Observation) -> Observation:
        return reopen_round(params, observation)

    def is_stale(self, params: NoveltyParams, standings: Sequence[Standing], now: float) -> bool:
        return has_expired(standings, now, params)

    def advise(self, params: NoveltyParams, pairs: Sequence[Pair]) -> tuple[Advice, ...]:
        return advise_contributor(params, pairs)

    def recompute(self, parts: Mapping[str, Any]) -> float:
        return sum_parts(parts)

    def bounds(self, params: NoveltyParams) -> tuple[float, float]:
        return 0.0, float(reward_units(-1_000_000, params)) * MOST_COLLECTED

    def explain(self, params: NoveltyParams, observation: Observation, scored: Scored, hotkey: str) -> Node:
        return explain_contributor(params, observation, scored, hotkey)

    def examples(self) -> Sequence[Asked]:
        return example_rounds()

    def read_question(self, data: Mapping[str, Any]) -> Asked:
        return read_question(data)

    def report(self, params: NoveltyParams, observation: Observation, scored: Scored) -> dict[str, Any]:
        return report_round(params, observation, scored)

    def best(self, params: NoveltyParams, observation: Observation, scored: Scored) -> str | None:
        valid = [score for score in scored.scores if score.status == "valid"]
        return max(valid, key=lambda score: score.value or 0.0).hotkey if valid else None

    def stages(self) -> Mapping[str, Stage]:
        return STAGES


def _nobody_is_asked() -> WeighbeamError:
    return WeighbeamError("nobody_is_asked", "novelty asks nobody: contributions are collected", "submit one instead")
