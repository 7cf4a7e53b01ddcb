"""The novelty mechanism: the verbs of the contract. Nobody is asked: contributions are collected."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.records import (
    MAX_COLLECTED,
    Collector,
    Group,
    Observation,
    Scored,
    Seed,
    Stage,
    Standing,
    Task,
    WeighRule,
    Weights,
)
from weighbeam.mechanisms.novelty.advise import MEANINGS, SUSPICIOUS, advise_contributor
from weighbeam.mechanisms.novelty.events import reopen_round
from weighbeam.mechanisms.novelty.explain import explain_contributor
from weighbeam.mechanisms.novelty.observe import name_senses, observe_round
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.question import FILE_KEYS, example_rounds, parse_question, report_round
from weighbeam.mechanisms.novelty.reward import reward_units
from weighbeam.mechanisms.novelty.score import has_expired, score_round, stand_round, sum_parts
from weighbeam.mechanisms.novelty.stages import STAGES
from weighbeam.mechanisms.novelty.ui.page import PAGE
from weighbeam.senses.ports.protocols import Senses


class Novelty(Mechanism):
    """Say something that nobody has said before."""

    name = "novelty"
    kind = "collected"
    served_alone = True
    params_type = NoveltyParams
    question_keys = FILE_KEYS
    rule = WeighRule(gate="none", exclude_permits=False)
    meanings = MEANINGS
    suspicious = SUSPICIOUS
    page = PAGE

    observe = staticmethod(observe_round)
    score = staticmethod(score_round)
    stand = staticmethod(stand_round)
    reopen = staticmethod(reopen_round)
    advise = staticmethod(advise_contributor)
    recompute = staticmethod(sum_parts)
    explain = staticmethod(explain_contributor)
    examples = staticmethod(example_rounds)
    parse_question = staticmethod(parse_question)
    report = staticmethod(report_round)

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

    def parse_task(self, params: NoveltyParams, name: str, text: str) -> Task:
        raise _nobody_is_asked()

    def pose(self, params: NoveltyParams, task: Task) -> Mapping[str, Any]:
        raise _nobody_is_asked()

    def ask_seconds(self, params: NoveltyParams) -> float:
        return 0.0

    def name_senses(self, params: NoveltyParams, senses: Senses) -> Mapping[str, Any]:
        return name_senses(params, senses)

    def weigh(self, params: NoveltyParams, standings: Sequence[Standing], eligible: Collection[str]) -> Weights:
        """In proportion to the units of the window."""
        return Weights({s.hotkey: s.value or 0.0 for s in standings if s.hotkey in eligible})

    def is_stale(self, params: NoveltyParams, standings: Sequence[Standing], now: float) -> bool:
        return has_expired(standings, now, params)

    def collector(self, store: Any) -> Collector:
        """Contributions are kept by the desk of the same store."""
        from weighbeam.mechanisms.novelty.desk.collector import DeskCollector

        return DeskCollector(store)

    def count_suspicious(self, connection: Any, since: float) -> Mapping[str, int]:
        from weighbeam.mechanisms.novelty.desk.accounts import count_recent

        return {status: count_recent(connection, status, since) for status in ("duplicate", "held")}

    def audit(self, connection: Any, file: Path | None) -> Iterable[str]:
        from weighbeam.mechanisms.novelty.desk.audit import audit_store

        return audit_store(connection, file)[1]

    def bounds(self, params: NoveltyParams) -> tuple[float, float]:
        return 0.0, float(reward_units(-1_000_000, params)) * MAX_COLLECTED

    def best(self, params: NoveltyParams, observation: Observation, scored: Scored) -> str | None:
        valid = [score for score in scored.scores if score.status == "valid"]
        return max(valid, key=lambda score: score.value or 0.0).hotkey if valid else None

    def stages(self) -> Mapping[str, Stage]:
        return STAGES

    def extend_service(self, host: Any) -> Sequence[Any]:
        from weighbeam.mechanisms.novelty.service.opening import serve_desk

        return serve_desk(self.name, host)

    def add_pages(self, app: Any, pages: Any) -> None:
        from weighbeam.mechanisms.novelty.service.page import add_page

        add_page(app, pages)

    def lab_world(self, params: Mapping[str, Any], senses: Any) -> Any:
        from weighbeam.mechanisms.novelty.lab.world import NoveltyWorld

        return NoveltyWorld(params, senses)

    def attacks(self) -> Sequence[Any]:
        from weighbeam.mechanisms.novelty.lab.attacks import ATTACKS

        return ATTACKS

    def row_kinds(self) -> Sequence[Any]:
        from weighbeam.mechanisms.novelty.lab.validity import ROW_KINDS

        return ROW_KINDS


def _nobody_is_asked() -> WeighbeamError:
    return WeighbeamError(
        "nobody_is_asked", "novelty does not ask miners: contributions are collected", "submit one instead"
    )
