"""The inference mechanism: the verbs of the contract, most in a file of their own."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from weighbeam.charts.heatmap import Heatmap
from weighbeam.core.canonical import seeded_digest
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.records import (
    Group,
    Narrative,
    Observation,
    ReplyLimits,
    Scored,
    Seed,
    Stage,
    Standing,
    Task,
    WeighRule,
    Weights,
)
from weighbeam.mechanisms.inference.advise import advise_voice
from weighbeam.mechanisms.inference.composite import sum_parts
from weighbeam.mechanisms.inference.examples import example_rounds
from weighbeam.mechanisms.inference.explain import explain_score
from weighbeam.mechanisms.inference.narrative.heatmap import arrange_heatmap
from weighbeam.mechanisms.inference.narrative.narrator import narrate_round
from weighbeam.mechanisms.inference.observe import name_senses, observe_round
from weighbeam.mechanisms.inference.params import MAX_ANSWER_BYTES, InferenceParams
from weighbeam.mechanisms.inference.question import FILE_KEYS, InferenceQuestion, parse_question, report_round
from weighbeam.mechanisms.inference.reasons import MEANINGS, SUSPICIOUS
from weighbeam.mechanisms.inference.reference.record import fold_truth
from weighbeam.mechanisms.inference.reference.source import draw_instead, finish_template
from weighbeam.mechanisms.inference.score import score_round
from weighbeam.mechanisms.inference.stages import STAGES
from weighbeam.mechanisms.inference.task import generate_task, parse_body, parse_prompt_text
from weighbeam.mechanisms.inference.ui.page import PAGE
from weighbeam.senses.ports.protocols import Narrator, Senses

FRAME_BYTES = 4096
"""Of a reply, around its text."""
ESCAPED = 3
"""A letter of 2 bytes has 6 where JSON escapes it."""
MAX_NODES = 256


class Inference(Mechanism):
    """Answer a prompt well, and in agreement with the others who do."""

    name = "inference"
    params_type = InferenceParams
    question_model = InferenceQuestion
    question_keys = FILE_KEYS
    rule = WeighRule(standing="emissions", gate="always", exclude_permits=False)
    meanings = MEANINGS
    suspicious = SUSPICIOUS
    page = PAGE
    max_request_bytes = 1 << 20
    max_reply_bytes = 256 << 10

    observe = staticmethod(observe_round)
    score = staticmethod(score_round)
    advise = staticmethod(advise_voice)
    recompute = staticmethod(sum_parts)
    explain = staticmethod(explain_score)
    examples = staticmethod(example_rounds)
    parse_question = staticmethod(parse_question)
    report = staticmethod(report_round)

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
        return draw_instead(params, seed) or generate_task(seed)

    def parse_task(self, params: InferenceParams, name: str, text: str) -> Task:
        return parse_prompt_text(name, text)

    def finish_task(self, params: InferenceParams, task: Task, seed: Seed) -> Task:
        return draw_instead(params, seed) or finish_template(task, seed)

    def pose(self, params: InferenceParams, task: Task) -> Mapping[str, Any]:
        question = parse_body(task.body)
        return {**question.posed, "max_words": question.max_words(params.max_answer_words)}

    def min_stake_rao(self, params: InferenceParams) -> int:
        return params.min_stake_rao

    def ask_seconds(self, params: InferenceParams) -> float:
        return params.timeout_seconds

    def reply_limits(self, params: InferenceParams, task: Task) -> ReplyLimits:
        """The longest text, its letters escaped as JSON may; the rest of a reply is small."""
        return ReplyLimits(FRAME_BYTES + ESCAPED * MAX_ANSWER_BYTES, MAX_NODES)

    def name_senses(self, params: InferenceParams, senses: Senses) -> Mapping[str, Any]:
        return name_senses(params, senses)

    def stand(self, params: InferenceParams, standings: Sequence[Standing], scored: Scored) -> tuple[Standing, ...]:
        """The truth of each miner; the engine averages the emissions in the summary."""
        return fold_truth(params, standings, scored)

    def weigh(self, params: InferenceParams, standings: Sequence[Standing], eligible: Collection[str]) -> Weights:
        return Weights({s.hotkey: (s.value or 0.0) if s.hotkey in eligible else 0.0 for s in standings})

    def bounds(self, params: InferenceParams) -> tuple[float, float]:
        return 0.0, 100.0

    def best(self, params: InferenceParams, observation: Observation, scored: Scored) -> str | None:
        best: str | None = scored.summary["best"]
        return best

    def draw(self, params: InferenceParams, observation: Observation, round_id: str) -> Heatmap | None:
        drawn = arrange_heatmap(params, observation, round_id)
        return drawn if params.heatmap and len(drawn) else None

    def tell(
        self,
        params: InferenceParams,
        observation: Observation,
        picture: str | None,
        narrator: Narrator | None,
        nonce: str,
    ) -> Narrative:
        texts = observation.texts
        prompt = texts.get(observation.facts["task"]["prompt"], "")
        return narrate_round(params, observation, prompt, texts, picture, narrator, nonce)

    def stages(self) -> Mapping[str, Stage]:
        return STAGES

    def miner(self, name: str, senses: Senses) -> Any | None:
        from weighbeam.mechanisms.inference.miners.handlers import find_miner

        return find_miner(name, senses)

    def lab_world(self, params: Mapping[str, Any], senses: Any) -> Any:
        from weighbeam.mechanisms.inference.lab.world import InferenceWorld

        return InferenceWorld(params, senses)

    def attacks(self) -> Sequence[Any]:
        from weighbeam.mechanisms.inference.lab.attacks import ATTACKS

        return ATTACKS

    def row_kinds(self) -> Sequence[Any]:
        from weighbeam.mechanisms.inference.lab.validity import list_row_kinds

        return list_row_kinds(self)


def choose_fewest(
    counts: Mapping[str, int], miners: Sequence[str], seed: Seed, wanted: Sequence[str], params: InferenceParams
) -> Group:
    """The `max_miners` with the fewest evaluations; nobody if there are fewer than `min_miners`.

    >>> choose_fewest({"a": 5}, ["a", "b", "c"], "s", (), InferenceParams(min_miners=2, max_miners=2)).members
    ('c', 'b')
    """
    candidates = sorted(set(miners))
    known, once = set(candidates), tuple(dict.fromkeys(wanted))
    unknown = tuple(hotkey for hotkey in once if hotkey not in known)
    if len(candidates) < params.min_miners:
        return Group((), None, 0, unknown=unknown)
    ordered = sorted(candidates, key=lambda hotkey: (counts.get(hotkey, 0), seeded_digest(seed, hotkey)))
    members = tuple(ordered[: params.max_miners])
    extra = tuple(hotkey for hotkey in once if hotkey in known and hotkey not in members)
    return Group(members, extra=extra, unknown=unknown)
