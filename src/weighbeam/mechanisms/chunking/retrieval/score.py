"""Retrieval of a recorded round: the part of the reward, and the figures beside it (spec § 17). Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanism.records import Observation
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.retrieval.borders import measure_borders
from weighbeam.mechanisms.chunking.retrieval.measure import (
    RankedChunking,
    Span,
    average_early,
    average_figures,
    parse_spans,
)


@dataclass(frozen=True, slots=True)
class RecordedRetrieval:
    """The questions of a round and the recorded similarities [chunks, questions]."""

    facts: Mapping[str, Any]
    similarities: NDArray[np.int32]

    @classmethod
    def of(cls, observation: Observation) -> "RecordedRetrieval | None":
        """None in a round without questions, or whose questions our own embedder failed on."""
        facts = observation.facts.get("retrieval")
        return cls(facts, observation.arrays["retrieval"]) if facts and facts["questions"] else None

    @property
    def gold(self) -> list[list[Span]]:
        return [[(start, end) for start, end in question["spans"]] for question in self.facts["questions"]]

    def rank(self, answer: Mapping[str, Any]) -> RankedChunking | None:
        """A valid answer's chunks ranked by each question; None if it failed or one of its chunks was not embedded."""
        if not answer["check"]["ok"] or not set(self.facts["missing"]).isdisjoint(answer["chunks"]):
            return None
        rows = np.searchsorted(self.facts["chunks"], answer["chunks"])
        return RankedChunking.rank(parse_spans(answer["check"]["spans"]), self.similarities[rows].T.tolist())

    def count_tokens(self, answer: Mapping[str, Any]) -> list[int]:
        tokens = dict(zip(self.facts["chunks"], self.facts["tokens"], strict=True))
        return [tokens[number] for number in answer["chunks"]]


def counts_retrieval(params: ChunkingParams, observation: Observation) -> bool:
    """Whether rewards of this round mix retrieval in."""
    return params.retrieval_share > 0 and RecordedRetrieval.of(observation) is not None


def judge_questions(
    params: ChunkingParams, recorded: RecordedRetrieval, answer: Mapping[str, Any], chunk_size: int
) -> list[float] | None:
    """The early recall of each question, as the reward counts it; None if the answer cannot be judged."""
    ranked = recorded.rank(answer)
    budget = max(1, int(params.retrieval_budget * chunk_size))
    return None if ranked is None else ranked.measure_early(recorded.gold, answer["lengths"], budget)


def judge_retrieval(params: ChunkingParams, observation: Observation) -> list[float | None] | None:
    """The mean early recall of each distinct answer; None for all in a round that does not count it."""
    recorded = RecordedRetrieval.of(observation)
    if recorded is None or not counts_retrieval(params, observation):
        return None
    size = observation.facts["task"]["chunk_size"]
    found = [judge_questions(params, recorded, answer, size) for answer in observation.facts["answers"]]
    return [None if row is None else average_early(row) for row in found]


def report_retrieval(observation: Observation, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Figures of an answer beside its reward: retrieval by questions, and borders, where there are any."""
    told: dict[str, Any] = {}
    recorded = RecordedRetrieval.of(observation)
    ranked = None if recorded is None else recorded.rank(answer)
    if recorded is not None and ranked is not None:
        gold, budget = recorded.gold, recorded.facts["token_budget"]
        within = ranked.measure_within(gold, recorded.count_tokens(answer), budget)
        told["retrieval"] = {
            "questions": len(gold),
            "at": [
                {"k": depth, **average_figures(ranked.measure_first(gold, depth)).as_json()}
                for depth in recorded.facts["k"]
            ],
            "within": {"tokens": budget, **average_figures(within).as_json()},
        }
    if "borders" in observation.facts and answer["check"]["ok"]:
        length = observation.facts["task"]["characters"]
        places = parse_spans(answer["check"]["spans"])
        told["borders"] = measure_borders(observation.facts["borders"], places, length).as_json()
    return told
