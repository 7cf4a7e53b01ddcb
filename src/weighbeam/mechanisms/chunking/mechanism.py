"""The chunking mechanism: the verbs of the contract, each in a file of its own."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

from weighbeam.core.ranking import order_standings
from weighbeam.mechanisms.abilities import Advice, Pair
from weighbeam.mechanisms.chunking.advise import advise_chunker
from weighbeam.mechanisms.chunking.check import Document
from weighbeam.mechanisms.chunking.examples import example_rounds
from weighbeam.mechanisms.chunking.explain import explain_score
from weighbeam.mechanisms.chunking.groups import choose_group
from weighbeam.mechanisms.chunking.observe import name_senses, observe_round
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.question import read_question, report_round
from weighbeam.mechanisms.chunking.read_by import READ_BY
from weighbeam.mechanisms.chunking.reasons import MEANINGS
from weighbeam.mechanisms.chunking.reward import bound_reward, recompute_reward
from weighbeam.mechanisms.chunking.score import score_round
from weighbeam.mechanisms.chunking.spread import spread_ranks
from weighbeam.mechanisms.chunking.stages import STAGES
from weighbeam.mechanisms.chunking.stand import Placed, apply_round
from weighbeam.mechanisms.chunking.synthetic import generate_task, read_document
from weighbeam.mechanisms.chunking.task import read_limits
from weighbeam.mechanisms.chunking.weigh import weigh_scores
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


class Chunking:
    """Cut a document so that each chunk is about one thing."""

    name = "chunking"
    kind: Literal["asked", "collected"] = "asked"
    better: Literal["lower", "higher"] = "lower"
    params_type: type[Params] = ChunkingParams
    rule = WeighRule()
    meanings = MEANINGS
    read_by = READ_BY

    def choose(
        self,
        params: ChunkingParams,
        standings: Sequence[Standing],
        miners: Sequence[str],
        seed: Seed,
        wanted: Sequence[str] = (),
    ) -> Group:
        known = {standing.hotkey: standing.value for standing in standings}
        ranking = order_standings({hotkey: known.get(hotkey) for hotkey in miners}, seed)
        return choose_group(ranking, params.group_size, params.rank_values, seed, wanted)

    def generate_task(self, params: ChunkingParams, seed: Seed) -> Task:
        return generate_task(seed)

    def read_task(self, params: ChunkingParams, name: str, text: str) -> Task:
        return read_document(name, text)

    def pose(self, params: ChunkingParams, task: Task) -> Mapping[str, Any]:
        limits = read_limits(task.body, params)
        return {"document": Document(task.body.get("document")).text, **asdict(limits)}

    def ask_seconds(self, params: ChunkingParams) -> float:
        return params.timeout

    def name_senses(self, params: ChunkingParams, senses: Senses) -> Mapping[str, Any]:
        return name_senses(senses.embedder, senses.sentences(params.splitter))

    def observe(self, params: ChunkingParams, asked: Asked, senses: Senses) -> Observation:
        return observe_round(params, asked, senses)

    def score(self, params: ChunkingParams, observation: Observation) -> Scored:
        return score_round(params, observation)

    def stand(self, params: ChunkingParams, standings: Sequence[Standing], scored: Scored) -> tuple[Standing, ...]:
        summary = scored.summary
        before = {standing.hotkey: standing.value for standing in standings}
        if not summary["ranked"]:
            return tuple(standings)
        places = summary["places"]
        placed = [Placed(s.hotkey, s.status, places[s.hotkey]) for s in scored.scores if s.hotkey in places]
        after = apply_round(before, placed, summary["base"], params, summary["group"], summary["groups"])
        return tuple(Standing(hotkey, value) for hotkey, value in after.items())

    def weigh(self, params: ChunkingParams, standings: Sequence[Standing], eligible: Collection[str]) -> Weights:
        scores = {standing.hotkey: standing.value for standing in standings}
        return Weights(weigh_scores(scores, eligible, params.curve))

    def spread(self, params: ChunkingParams, standing: Standing, course: Sequence[float]) -> float | None:
        return spread_ranks(params, course)

    def advise(self, params: ChunkingParams, pairs: Sequence[Pair]) -> tuple[Advice, ...]:
        return advise_chunker(params, pairs)

    def recompute(self, parts: Mapping[str, Any]) -> float:
        return recompute_reward(parts)

    def bounds(self, params: ChunkingParams) -> tuple[float, float]:
        return bound_reward(params)

    def explain(self, params: ChunkingParams, observation: Observation, scored: Scored, hotkey: str) -> Node:
        return explain_score(params, observation, scored, hotkey)

    def examples(self) -> Sequence[Asked]:
        return example_rounds()

    def read_question(self, data: Mapping[str, Any]) -> Asked:
        return read_question(data)

    def report(self, params: ChunkingParams, observation: Observation, scored: Scored) -> dict[str, Any]:
        return report_round(observation, scored)

    def best(self, params: ChunkingParams, observation: Observation, scored: Scored) -> str | None:
        best = scored.summary["best"]
        return None if best is None else scored.scores[best].hotkey

    def stages(self) -> Mapping[str, Stage]:
        return STAGES
