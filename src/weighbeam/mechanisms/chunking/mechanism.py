"""The chunking mechanism: the verbs of the contract, each in a file of its own."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from weighbeam.core.stats import order_standings
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.records import (
    Group,
    Observation,
    ReplyLimits,
    Scored,
    Seed,
    Stage,
    Standing,
    Task,
    Weights,
)
from weighbeam.mechanisms.chunking.advise import MEANINGS, SUSPICIOUS, advise_chunker
from weighbeam.mechanisms.chunking.check import ReferenceDocument
from weighbeam.mechanisms.chunking.documents import example_rounds, generate_task, parse_document
from weighbeam.mechanisms.chunking.explain import explain_score
from weighbeam.mechanisms.chunking.groups import choose_group
from weighbeam.mechanisms.chunking.observe import name_senses, observe_round
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.question import (
    FILE_KEYS,
    ChunkingQuestion,
    list_ignored,
    parse_question,
    report_round,
)
from weighbeam.mechanisms.chunking.retrieval.hidden import hide_questions
from weighbeam.mechanisms.chunking.reward import bound_reward, recompute_reward
from weighbeam.mechanisms.chunking.score import score_round
from weighbeam.mechanisms.chunking.stages import STAGES
from weighbeam.mechanisms.chunking.stand import PlacedMiner, apply_round, spread_ranks
from weighbeam.mechanisms.chunking.task import limit_reply, parse_limits
from weighbeam.mechanisms.chunking.ui.page import PAGE
from weighbeam.mechanisms.chunking.weigh import weigh_scores
from weighbeam.senses.ports.protocols import Senses


class Chunking(Mechanism):
    """Cut a document so that each chunk is about one thing."""

    name = "chunking"
    better = "lower"
    params_type = ChunkingParams
    question_model = ChunkingQuestion
    question_keys = FILE_KEYS
    meanings = MEANINGS
    suspicious = SUSPICIOUS
    page = PAGE
    max_request_bytes = 8 << 20
    max_reply_bytes = 16 << 20

    observe = staticmethod(observe_round)
    score = staticmethod(score_round)
    advise = staticmethod(advise_chunker)
    recompute = staticmethod(recompute_reward)
    bounds = staticmethod(bound_reward)
    explain = staticmethod(explain_score)
    examples = staticmethod(example_rounds)
    parse_question = staticmethod(parse_question)
    list_ignored = staticmethod(list_ignored)

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
        return hide_questions(params, generate_task(seed), seed)

    def parse_task(self, params: ChunkingParams, name: str, text: str) -> Task:
        return parse_document(name, text)

    def finish_task(self, params: ChunkingParams, task: Task, seed: Seed) -> Task:
        return hide_questions(params, task, seed)

    def pose(self, params: ChunkingParams, task: Task) -> Mapping[str, Any]:
        limits = parse_limits(task.body, params)
        return {"document": ReferenceDocument(task.body.get("document")).text, **asdict(limits)}

    def ask_seconds(self, params: ChunkingParams) -> float:
        return params.timeout

    def reply_limits(self, params: ChunkingParams, task: Task) -> ReplyLimits:
        return limit_reply(task.body, params)

    def name_senses(self, params: ChunkingParams, senses: Senses) -> Mapping[str, Any]:
        return name_senses(senses.embedder, senses.sentences(params.splitter))

    def stand(self, params: ChunkingParams, standings: Sequence[Standing], scored: Scored) -> tuple[Standing, ...]:
        summary = scored.summary
        before = {standing.hotkey: standing.value for standing in standings}
        if not summary["ranked"]:
            return tuple(standings)
        places = summary["places"]
        placed = [PlacedMiner(s.hotkey, s.status, places[s.hotkey]) for s in scored.scores if s.hotkey in places]
        after = apply_round(before, placed, summary["base"], params, summary["group"], summary["groups"])
        return tuple(Standing(hotkey, value) for hotkey, value in after.items())

    def weigh(self, params: ChunkingParams, standings: Sequence[Standing], eligible: Collection[str]) -> Weights:
        scores = {standing.hotkey: standing.value for standing in standings}
        return Weights(weigh_scores(scores, eligible, params.curve))

    def spread(self, params: ChunkingParams, standing: Standing, course: Sequence[float]) -> float | None:
        return spread_ranks(params, course)

    def report(self, params: ChunkingParams, observation: Observation, scored: Scored) -> dict[str, Any]:
        return report_round(observation, scored)

    def best(self, params: ChunkingParams, observation: Observation, scored: Scored) -> str | None:
        best = scored.summary["best"]
        return None if best is None else scored.scores[best].hotkey

    def stages(self) -> Mapping[str, Stage]:
        return STAGES

    def cut(
        self,
        document: str,
        senses: Senses,
        chunk_size: int | None = None,
        chunk_qty: int | None = None,
        names: Sequence[str] = ("all",),
    ) -> dict[str, list[str]]:
        """By name, what each of these chunkers makes of a document; `all` are the installed ones."""
        from weighbeam.mechanisms.chunking.miners.cuts import cut_document

        return cut_document(document, senses, chunk_size, chunk_qty, names)

    def miner(self, name: str, senses: Senses) -> Any | None:
        from weighbeam.mechanisms.chunking.miners.handlers import find_miner

        return find_miner(name, senses)

    def lab_world(self, params: Mapping[str, Any], senses: Any) -> Any:
        from weighbeam.mechanisms.chunking.lab.world import ChunkingWorld

        return ChunkingWorld(params, senses)

    def lab_tournament(self, params: ChunkingParams, hotkeys: Sequence[str], validators: int) -> Any:
        from weighbeam.mechanisms.chunking.lab.tournament import Tournament

        return Tournament(hotkeys, validators, params)

    def attacks(self) -> Sequence[Any]:
        from weighbeam.mechanisms.chunking.lab.attacks import ATTACKS

        return ATTACKS

    def row_kinds(self) -> Sequence[Any]:
        from weighbeam.mechanisms.chunking.lab.validity import list_row_kinds

        return list_row_kinds(self)
