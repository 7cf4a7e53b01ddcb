"""Scores and places of a recorded round; pure, everything comes from the observation (spec §§ 6-9)."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.similarity import Families
from weighbeam.core.stats import Ties, place_values
from weighbeam.mechanism.records import Observation, Score, Scored, Status
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.retrieval.score import judge_retrieval
from weighbeam.mechanisms.chunking.reward import (
    Similarity,
    charge_time,
    compare_segments,
    judge_chunking,
    penalise_time,
)


@dataclass(frozen=True, slots=True)
class JudgedChunking:
    """One judged answer, as ranking sees it."""

    status: Status
    reward: float | None
    seconds: float = math.inf


@dataclass(frozen=True, slots=True)
class GroupPlaces:
    places: tuple[float | None, ...]
    judged: int
    best: int | None


def rank_answers(results: Sequence[JudgedChunking], ties: Ties) -> GroupPlaces:
    """Valid answers by reward, failed ones all last, unscored ones nowhere.

    >>> both = [JudgedChunking("valid", 0.0), JudgedChunking("failed", 0.0)]
    >>> rank_answers([*both, JudgedChunking("unscored", None)], "average").places
    (0.0, 1.0, None)
    """
    valid = [i for i, result in enumerate(results) if result.status == "valid"]
    rewards = [result.reward or 0.0 for result in results]
    judged = sum(result.status != "unscored" for result in results)
    places: list[float | None] = [float(judged - 1) if result.status == "failed" else None for result in results]
    for i, place in zip(valid, place_values([rewards[i] for i in valid], ties), strict=True):
        places[i] = place
    best = min(valid, key=lambda i: (-rewards[i], results[i].seconds, i), default=None)
    return GroupPlaces(tuple(places), judged, best)


def score_round(params: ChunkingParams, observation: Observation) -> Scored:
    """One score per miner, and their places. Identical answers are judged once; only the time is each miner's own."""
    facts, judged = observation.facts, judge_answers(params, observation)
    scores = tuple(_score(miner, facts, judged[miner["answer"]], params) for miner in facts["miners"])
    return Scored(scores, _summarise(facts, scores, params))


def judge_answers(params: ChunkingParams, observation: Observation) -> list[dict[str, Any] | None]:
    """The parts of each distinct answer's reward that no miner's time changes; None where it cannot be judged."""
    task, answers = observation.facts["task"], observation.facts["answers"]
    similarities, retrieved = compare_answers(observation), judge_retrieval(params, observation)
    judged: list[dict[str, Any] | None] = []
    for number, (answer, similarity) in enumerate(zip(answers, similarities, strict=True)):
        found = None if retrieved is None else retrieved[number]
        if similarity is None or (retrieved is not None and found is None):
            judged.append(None)
            continue
        size, quantity = task["chunk_size"], task["chunk_qty"]
        judged.append(judge_chunking(similarity, answer["lengths"], size, quantity, params, found))
    return judged


def compare_answers(observation: Observation) -> list[Similarity | None]:
    """The similarity of each distinct answer; None where it failed or a vector is missing."""
    facts = observation.facts
    missing = set(facts["missing"])
    judged = [
        number
        for number, answer in enumerate(facts["answers"])
        if answer["check"]["ok"]
        and not (missing and any(answer["segments"][i][1] in missing for i in answer["sampled"]))
    ]
    answers = [facts["answers"][number] for number in judged]
    rows, chunk_of = sampled_rows(answers, find_rows(facts))
    counts, chunks = [len(answer["sampled"]) for answer in answers], [len(answer["lengths"]) for answer in answers]
    compared = compare_segments(observation.arrays["vectors"], Families(rows, chunk_of, counts, chunks))
    similarities: list[Similarity | None] = [None] * len(facts["answers"])
    for number, similarity in zip(judged, compared, strict=True):
        similarities[number] = similarity
    return similarities


def find_rows(facts: Mapping[str, Any]) -> NDArray[np.intp]:
    """The row of each text's vector; of a text that was not embedded, one past the last."""
    embedded = facts["embedded"]
    row_of = np.full(len(facts["texts"]), len(embedded), dtype=np.intp)
    row_of[embedded] = np.arange(len(embedded))
    return row_of


def sampled_rows(
    answers: Sequence[Mapping[str, Any]], row_of: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and chunk numbers of the sampled segments of all answers, one answer after the other."""
    sampled = chain.from_iterable(map(answer["segments"].__getitem__, answer["sampled"]) for answer in answers)
    chunk_of, texts = np.fromiter(chain.from_iterable(sampled), np.intp).reshape(-1, 2).T
    return row_of[texts], chunk_of


def _score(
    miner: Mapping[str, Any], facts: Mapping[str, Any], judged: Mapping[str, Any] | None, params: ChunkingParams
) -> Score:
    hotkey, check = miner["hotkey"], facts["answers"][miner["answer"]]["check"]
    if miner["status"] == "validator_error":
        return Score(hotkey, "unscored", None, None, ("validator_fault",))
    if not check["ok"]:
        return Score(hotkey, "failed", 0.0, None, (check["failure"],))
    if judged is None:
        return Score(hotkey, "unscored", None, None, ("validator_fault",))
    time = penalise_time(miner["seconds"], facts["task"]["time_soft_max"])
    return Score(hotkey, "valid", *charge_time(judged, time, params))


def _summarise(facts: Mapping[str, Any], scores: tuple[Score, ...], params: ChunkingParams) -> dict[str, Any]:
    """Places of the group's members; extra miners are scored but not ranked."""
    extra = set(facts["group"]["extra"])
    seconds = {miner["hotkey"]: miner["seconds"] for miner in facts["miners"]}
    members = [score for score in scores if score.hotkey not in extra]
    ranked = rank_answers([JudgedChunking(s.status, s.value, seconds[s.hotkey]) for s in members], params.ties)
    everyone = rank_answers([JudgedChunking(s.status, s.value, seconds[s.hotkey]) for s in scores], params.ties)
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
