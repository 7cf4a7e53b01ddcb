"""The evidence mechanism: the verbs of the contract, each in a file of its own."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.records import (
    Advice,
    Group,
    Observation,
    ReplyLimits,
    Scored,
    ScorePair,
    Seed,
    Stage,
    Standing,
    Task,
    WeighRule,
    Weights,
)
from weighbeam.mechanisms.evidence.advise import advise_finder
from weighbeam.mechanisms.evidence.choose import choose_weighted
from weighbeam.mechanisms.evidence.explain import explain_score
from weighbeam.mechanisms.evidence.judge.payload import MAX_KEPT
from weighbeam.mechanisms.evidence.metrics import MEASURES
from weighbeam.mechanisms.evidence.observe import find_lists, name_senses, observe_round
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.question import (
    FILE_KEYS,
    EvidenceQuestion,
    example_rounds,
    parse_question,
    report_round,
)
from weighbeam.mechanisms.evidence.reasons import MEANINGS, SUSPICIOUS
from weighbeam.mechanisms.evidence.score import recompute, score_round
from weighbeam.mechanisms.evidence.stages import STAGES as STAGES_SCORE
from weighbeam.mechanisms.evidence.stages import STAGES_TEXT
from weighbeam.mechanisms.evidence.stand import find_seed, recall, spread_responses, stand_round
from weighbeam.mechanisms.evidence.task import (
    BANK_SUFFIXES,
    find_archive,
    generate_task,
    name_archive,
    parse_statement,
    parse_statement_text,
)
from weighbeam.mechanisms.evidence.ui.page import PAGE
from weighbeam.mechanisms.evidence.url.lists import parse_lists
from weighbeam.mechanisms.evidence.weigh import count_equals, find_payable, pay_ranks, rank_active
from weighbeam.senses.ports.protocols import Senses

FRAME_BYTES, FRAME_NODES = 4096, 256
BYTES_PER_SNIPPET = 8 * MAX_KEPT
"""Largest excerpt, with 6 bytes per escaped character, and a URL."""
NODES_PER_SNIPPET = 64


class Evidence(Mechanism):
    """Quote pages that support or contradict a statement."""

    name = "evidence"
    params_type = EvidenceParams
    question_model = EvidenceQuestion
    question_keys = FILE_KEYS
    rule = WeighRule(standing="own", gate="asked", exclude_permits=True)
    measures = MEASURES
    uses = ("embedder", "entailment")
    reads_pages = True
    meanings = MEANINGS
    suspicious = SUSPICIOUS
    page = PAGE
    max_request_bytes = 64 << 10
    max_reply_bytes = 256 << 10

    observe = staticmethod(observe_round)
    score = staticmethod(score_round)
    spread = staticmethod(spread_responses)
    recompute = staticmethod(recompute)
    explain = staticmethod(explain_score)
    examples = staticmethod(example_rounds)
    parse_question = staticmethod(parse_question)
    report = staticmethod(report_round)

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

    def parse_task(self, params: EvidenceParams, name: str, text: str) -> Task:
        return parse_statement_text(name, text)

    def pose(self, params: EvidenceParams, task: Task) -> Mapping[str, Any]:
        return {"statement": parse_statement(task.body), "max_snippets": params.max_snippets}

    def ask_seconds(self, params: EvidenceParams) -> float:
        return params.timeout_seconds

    def reply_limits(self, params: EvidenceParams, task: Task) -> ReplyLimits:
        """So much for each snippet that is processed, its URL and excerpt as long as they are kept."""
        return ReplyLimits(
            FRAME_BYTES + BYTES_PER_SNIPPET * params.max_snippets, FRAME_NODES + NODES_PER_SNIPPET * params.max_snippets
        )

    def name_senses(self, params: EvidenceParams, senses: Senses) -> Mapping[str, Any]:
        """Asked before anyone is: lists that could not be used are refused here, and not when answers are in."""
        find_lists(senses, None)
        return name_senses(senses)

    def stand(self, params: EvidenceParams, standings: Sequence[Standing], scored: Scored) -> tuple[Standing, ...]:
        return stand_round(standings, scored, params)

    def weigh(self, params: EvidenceParams, standings: Sequence[Standing], eligible: Collection[str]) -> Weights:
        return self.weigh_burning(params, standings, eligible, None)

    def burn_share(self, params: EvidenceParams) -> float:
        return params.burn_share

    def weigh_burning(
        self, params: EvidenceParams, standings: Sequence[Standing], eligible: Collection[str], burn: str | None
    ) -> Weights:
        """Integers that total 65,535; odd units among equals fall by the seed of the last round."""
        memories = {standing.hotkey: recall(standing) for standing in standings}
        ranking = rank_active(memories, find_payable(memories, eligible, params), find_seed(standings))
        paid = pay_ranks(count_equals(memories, ranking, params), burn is not None, params)
        raw: dict[str, float] = {hotkey: float(units) for hotkey, units in zip(ranking, paid.miners, strict=True)}
        return Weights(raw if burn is None else {**raw, burn: float(paid.burn)})

    def advise(self, params: EvidenceParams, pairs: Sequence[ScorePair]) -> tuple[Advice, ...]:
        return advise_finder(pairs)

    def bounds(self, params: EvidenceParams) -> tuple[float, float]:
        worst = [value for name, value in params.model_dump().items() if name.startswith("penalty_")]
        floor = params.score_floor if params.score_floor is not None else 2 * params.max_snippets * min(worst)
        best = 2 * params.max_snippets * max(1.0, params.approved_multiplier)
        return min(floor, *worst), best

    def best(self, params: EvidenceParams, observation: Observation, scored: Scored) -> str | None:
        best: str | None = scored.summary["best"]
        return best

    def stages(self) -> Mapping[str, Stage]:
        return {**STAGES_TEXT, **STAGES_SCORE}

    def saved_pages(self) -> Mapping[str, Any]:
        place = find_archive()
        return {"pages": f"archive:{place}", "lists": place / "lists", "extra_suffixes": BANK_SUFFIXES}

    def check_list(self, entries: Any, suffixes: Sequence[str]) -> None:
        parse_lists(entries, None, list(suffixes))

    def miner(self, name: str, senses: Senses) -> Any | None:
        from weighbeam.mechanisms.evidence.miners.handlers import find_miner

        return find_miner(name, senses)

    def lab_world(self, params: Mapping[str, Any], senses: Any) -> Any:
        from weighbeam.mechanisms.evidence.lab.world import EvidenceWorld

        return EvidenceWorld(params, senses)

    def attacks(self) -> Sequence[Any]:
        from weighbeam.mechanisms.evidence.lab.attacks import ATTACKS

        return ATTACKS

    def row_kinds(self) -> Sequence[Any]:
        from weighbeam.mechanisms.evidence.lab.validity import ROW_KINDS

        return ROW_KINDS

    def question_senses(self, data: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
        named = data.get("archive")
        return name_archive(str(named), folder) if named else {}

    def lab_senses(self) -> Mapping[str, Any]:
        return {"pages": f"archive:{find_archive()}"}
