"""The inference mechanism: the verbs of the contract, each in a file of its own."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from weighbeam.mechanisms.abilities import Advice, Pair, Told
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
from weighbeam.mechanisms.inference.advise import advise_voice
from weighbeam.mechanisms.inference.choose import choose_fewest
from weighbeam.mechanisms.inference.composite import sum_parts
from weighbeam.mechanisms.inference.examples import example_rounds
from weighbeam.mechanisms.inference.explain import explain_score
from weighbeam.mechanisms.inference.heatmap import lay_out_heatmap
from weighbeam.mechanisms.inference.observe import name_senses, observe_round
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.prompts import generate_task, read_prompt_text
from weighbeam.mechanisms.inference.question import read_question, report_round
from weighbeam.mechanisms.inference.read_by import READ_BY
from weighbeam.mechanisms.inference.reasons import MEANINGS
from weighbeam.mechanisms.inference.score import score_round
from weighbeam.mechanisms.inference.stages import STAGES
from weighbeam.mechanisms.inference.task import read_body
from weighbeam.mechanisms.inference.tell import tell_round
from weighbeam.pictures.heatmap import Heatmap
from weighbeam.senses.ports import Narrator, Senses


class Inference:
    """Answer a prompt well, and in agreement with the others who do."""

    name = "inference"
    kind: Literal["asked", "collected"] = "asked"
    better: Literal["lower", "higher"] = "higher"
    params_type: type[Params] = InferenceParams
    rule = WeighRule(standing="emissions", gate="always", exclude_permits=False)
    meanings = MEANINGS
    read_by = READ_BY

    def choose(
        self,
        params: InferenceParams,
        standings: Sequence[Standing],
        miners: Sequence[str],
        seed: Seed,
        wanted: Sequence[str] = (),
    ) -> Group:
        counts = {standing.hotkey: standing.detail.get("count", 0) for standing in standings}
        return choose_fewest(counts, miners, seed, wanted, params)

    def generate_task(self, params: InferenceParams, seed: Seed) -> Task:
        return generate_task(seed)

    def read_task(self, params: InferenceParams, name: str, text: str) -> Task:
        return read_prompt_text(name, text)

    def pose(self, params: InferenceParams, task: Task) -> Mapping[str, Any]:
        question = read_body(task.body)
        return {**question.posed, "max_words": question.most_words(params.max_answer_words)}

    def ask_seconds(self, params: InferenceParams) -> float:
        return params.timeout_seconds

    def name_senses(self, params: InferenceParams, senses: Senses) -> Mapping[str, Any]:
        return name_senses(senses.embedder)

    def observe(self, params: InferenceParams, asked: Asked, senses: Senses) -> Observation:
        return observe_round(params, asked, senses)

    def score(self, params: InferenceParams, observation: Observation) -> Scored:
        return score_round(params, observation)

    def stand(self, params: InferenceParams, standings: Sequence[Standing], scored: Scored) -> tuple[Standing, ...]:
        """Nothing of its own: the engine averages the emissions in the summary."""
        return tuple(standings)

    def weigh(self, params: InferenceParams, standings: Sequence[Standing], eligible: Collection[str]) -> Weights:
        return Weights({s.hotkey: (s.value or 0.0) if s.hotkey in eligible else 0.0 for s in standings})

    def advise(self, params: InferenceParams, pairs: Sequence[Pair]) -> tuple[Advice, ...]:
        return advise_voice(params, pairs)

    def recompute(self, parts: Mapping[str, Any]) -> float:
        return sum_parts(parts)

    def bounds(self, params: InferenceParams) -> tuple[float, float]:
        return 0.0, 100.0

    def explain(self, params: InferenceParams, observation: Observation, scored: Scored, hotkey: str) -> Node:
        return explain_score(params, observation, scored, hotkey)

    def examples(self) -> Sequence[Asked]:
        return example_rounds()

    def read_question(self, data: Mapping[str, Any]) -> Asked:
        return read_question(data)

    def report(self, params: InferenceParams, observation: Observation, scored: Scored) -> dict[str, Any]:
        return report_round(params, observation, scored)

    def best(self, params: InferenceParams, observation: Observation, scored: Scored) -> str | None:
        best: str | None = scored.summary["best"]
        return best

    def draw(self, params: InferenceParams, observation: Observation, round_id: str) -> Heatmap | None:
        drawn = lay_out_heatmap(params, observation, round_id)
        return drawn if params.heatmap and len(drawn) else None

    def tell(
        self,
        params: InferenceParams,
        observation: Observation,
        picture: str | None,
        narrator: Narrator | None,
        nonce: str,
    ) -> Told:
        texts = observation.texts
        prompt = texts.get(observation.facts["task"]["prompt"], "")
        return tell_round(params, observation, prompt, texts, picture, narrator, nonce)

    def stages(self) -> Mapping[str, Stage]:
        return STAGES
