"""How retrieval entered a reward: the mix, and what came back for each question."""

from collections.abc import Mapping
from typing import Any

from weighbeam.mechanism.records import Node, Observation
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.retrieval.score import RecordedRetrieval, counts_retrieval, judge_questions
from weighbeam.mechanisms.chunking.reward import mix_retrieval

SHOWN_QUESTIONS = 40


def explain_mix(parts: Mapping[str, Any]) -> tuple[Node, ...]:
    """One node in a round that counts retrieval, none in any other."""
    if "retrieval" not in parts:
        return ()
    weight, similarity, retrieval = parts["retrieval_weight"], parts["similarity"], parts["retrieval"]
    sums = f"{1 - weight:.6g}·{similarity:.9g} + {weight:.6g}·{retrieval:.9g} = {mix_retrieval(parts):.9g}"
    return (Node(f"mix of similarity and retrieval = {sums}"),)


def explain_retrieval(params: ChunkingParams, observation: Observation, answer: Mapping[str, Any]) -> tuple[Node, ...]:
    """Each question of the round with its early recall from this answer, where that counts."""
    recorded = RecordedRetrieval.of(observation)
    if recorded is None or not counts_retrieval(params, observation):
        return ()
    size = observation.facts["task"]["chunk_size"]
    figures, ranked = judge_questions(params, recorded, answer, size), recorded.rank(answer)
    if figures is None or ranked is None:
        return ()
    lines = []
    for question, found, order in zip(recorded.facts["questions"], figures, ranked.rankings, strict=True):
        text = observation.texts.get(question["text"], "(text no longer kept)")
        nearest = f"nearest chunk {order[0] + 1}" if order else "no chunk has words"
        lines.append(Node(f"{found:.6g}, {nearest}: {text}"))
    rest = len(lines) - SHOWN_QUESTIONS
    more = (Node(f"and {rest} more"),) if rest > 0 else ()
    budget = f"{params.retrieval_budget:g} × {size} characters"
    title = f"retrieval: mean of {len(lines)} hidden questions, recall averaged over up to {budget}"
    return (Node(title, (*lines[:SHOWN_QUESTIONS], *more)),)
