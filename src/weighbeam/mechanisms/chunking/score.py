"""Scores of a recorded round (spec §§ 6-9). Pure: everything it reads is in the observation."""

from collections import Counter
from collections.abc import Mapping
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.rank import Result, rank_answers
from weighbeam.mechanisms.chunking.reward import Similarity, compare_segments, reward_chunking
from weighbeam.mechanisms.contract import Observation, Score, Scored


def score_round(params: ChunkingParams, observation: Observation) -> Scored:
    """One score per miner, and their places."""
    facts = observation.facts
    similarities = compare_answers(observation)
    scores = tuple(_score(miner, facts, similarities, params) for miner in facts["miners"])
    return Scored(scores, _summarise(facts, scores, params))


def compare_answers(observation: Observation) -> list[Similarity | None]:
    """The similarity of each distinct answer; None where it failed or a vector is missing."""
    facts = observation.facts
    row_of = {text: row for row, text in enumerate(facts["embedded"])}
    missing = set(facts["missing"])
    judged = [
        number
        for number, answer in enumerate(facts["answers"])
        if answer["check"]["ok"]
        and not (missing and any(answer["segments"][i][1] in missing for i in answer["sampled"]))
    ]
    answers = [facts["answers"][number] for number in judged]
    vectors = observation.arrays["vectors"]
    families = [(*sampled_vectors(answer, vectors, row_of), len(answer["lengths"])) for answer in answers]
    similarities: list[Similarity | None] = [None] * len(facts["answers"])
    for number, similarity in zip(judged, compare_segments(families), strict=True):
        similarities[number] = similarity
    return similarities


def sampled_vectors(
    answer: Mapping[str, Any], vectors: NDArray[np.integer], row_of: Mapping[int, int]
) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """Vectors (n, d) and chunk numbers (n) of an answer's sampled segments."""
    sampled = [answer["segments"][i] for i in answer["sampled"]]
    rows = np.array([row_of[text] for _, text in sampled], dtype=np.intp)
    return vectors[rows], np.array([chunk for chunk, _ in sampled], dtype=np.intp)


def _score(
    miner: Mapping[str, Any],
    facts: Mapping[str, Any],
    similarities: list[Similarity | None],
    params: ChunkingParams,
) -> Score:
    hotkey, answer = miner["hotkey"], facts["answers"][miner["answer"]]
    if miner["status"] == "validator_error":
        return Score(hotkey, "unscored", None, None, ("validator_fault",))
    if not answer["check"]["ok"]:
        return Score(hotkey, "failed", 0.0, None, (answer["check"]["failure"],))
    similarity = similarities[miner["answer"]]
    if similarity is None:
        return Score(hotkey, "unscored", None, None, ("validator_fault",))
    task = facts["task"]
    reward, parts = reward_chunking(
        similarity,
        answer["lengths"],
        task["chunk_size"],
        task["chunk_qty"],
        miner["seconds"],
        task["time_soft_max"],
        params,
    )
    return Score(hotkey, "valid", reward, parts)


def _summarise(facts: Mapping[str, Any], scores: tuple[Score, ...], params: ChunkingParams) -> dict[str, Any]:
    """Places of the group's members; miners asked besides are scored but not ranked."""
    extra = set(facts["group"]["extra"])
    seconds = {miner["hotkey"]: miner["seconds"] for miner in facts["miners"]}
    members = [score for score in scores if score.hotkey not in extra]
    ranked = rank_answers([Result(s.status, s.value, seconds[s.hotkey]) for s in members], params.ties)
    everyone = rank_answers([Result(s.status, s.value, seconds[s.hotkey]) for s in scores], params.ties)
    copies = Counter(miner["answer"] for miner in facts["miners"])
    return {
        "places": {s.hotkey: place for s, place in zip(members, ranked.places, strict=True)},
        "judged": ranked.judged,
        "best": everyone.best,
        "ranked": facts["task"]["ranked"],
        "base": facts["group"]["base"],
        "group": facts["group"]["index"],
        "groups": facts["group"]["count"],
        "similarity": _spread(scores),
        "segments": {
            "sampled": sum(len(answer["sampled"]) for answer in facts["answers"]),
            "embedded": len(facts["embedded"]),
        },
        "unscored": sum(score.status == "unscored" for score in scores),
        "duplicates": sum(copies[miner["answer"]] > 1 for miner in facts["miners"]),
        "failures": dict(sorted(Counter(s.reasons[0] for s in scores if s.reasons).items())),
    }


def _spread(scores: tuple[Score, ...]) -> dict[str, float] | None:
    """Least, middle and greatest similarity of the valid answers: how much this document tells miners apart."""
    found = [score.parts["similarity"] for score in scores if score.parts is not None]
    return {"least": min(found), "median": median(found), "most": max(found)} if found else None
