"""The pure stages of spec § 16, as vector files call them: plain JSON in, plain JSON out."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_integer, is_number
from weighbeam.core.quantise import to_millionths
from weighbeam.core.similarity import one_family
from weighbeam.core.stats import normalise, order_standings, to_u16
from weighbeam.mechanism.records import Seed, Stage, Status
from weighbeam.mechanisms.chunking.check import ReferenceDocument
from weighbeam.mechanisms.chunking.groups import draw_group, form_groups, split_wanted
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.places import RuledDocument, draw_phase, rule_cells, sample_places
from weighbeam.mechanisms.chunking.retrieval.stages import borders_stage, retrieval_stage
from weighbeam.mechanisms.chunking.reward import compare_segments, reward_chunking
from weighbeam.mechanisms.chunking.score import JudgedChunking, rank_answers
from weighbeam.mechanisms.chunking.segments import Segment, sample_segments, segment_chunk
from weighbeam.mechanisms.chunking.stand import PlacedMiner, apply_round
from weighbeam.mechanisms.chunking.weigh import weigh_scores

Input = Mapping[str, Any]
STATUSES = get_args(Status)


def check_stage(given: Input) -> dict[str, Any]:
    params = _parse_params(given)
    size = given.get("chunk_size")
    if not is_integer(size, 1):
        raise WeighbeamError("bad_chunk_size")
    return ReferenceDocument(given.get("document")).check(given.get("chunks"), size, params).as_json()


def sample_stage(given: Input) -> dict[str, Any]:
    params = _parse_params(given)
    seed = _parse_seed(given)
    if seed is None:
        raise WeighbeamError("missing_seed")
    segments = [
        Segment(chunk, text)
        for chunk, sentences in enumerate(given["sentences"])
        for text in segment_chunk(sentences, params.segment_sentences)
    ]
    return {
        "segments": [{"chunk": segment.chunk, "text": segment.text} for segment in segments],
        "sampled": sample_segments(segments, seed, params.num_embeddings),
    }


def places_stage(given: Input) -> dict[str, Any]:
    params = _parse_params(given)
    document, starts, answers, seed = (
        given.get("document"),
        given.get("starts"),
        given.get("answers"),
        _parse_seed(given),
    )
    require(isinstance(document, str), "bad_document")
    assert isinstance(document, str)
    ascending = isinstance(starts, list) and all(is_integer(start, 0) for start in starts) and starts[:1] == [0]
    require(ascending and all(a < b for a, b in pairwise(starts or ())), "bad_starts")
    require(isinstance(answers, list) and all(_are_spans(spans, len(document)) for spans in answers), "bad_spans")
    if seed is None:
        raise WeighbeamError("missing_seed")
    size = params.segment_sentences
    ruled = RuledDocument(document, rule_cells(starts or (), size, draw_phase(seed, size)))
    cut = [ruled.cut(spans) for spans in answers or ()]
    sampled = sample_places(cut, seed, params.num_embeddings)
    return {
        "cells": list(ruled.cells),
        "answers": [
            {
                "segments": [{"chunk": segment.chunk, "text": segment.text} for segment in segments],
                "cells": cell_of,
                "sampled": taken,
            }
            for (segments, cell_of), taken in zip(cut, sampled, strict=True)
        ],
    }


def _are_spans(spans: Any, length: int) -> bool:
    return isinstance(spans, list) and all(
        span is None
        or (
            isinstance(span, list)
            and [is_integer(end, 0) for end in span] == [True] * 2
            and span[0] < span[1] <= length
        )
        for span in spans
    )


def reward_stage(given: Input) -> dict[str, Any]:
    params = _parse_params(given)
    status = given.get("status", "valid")
    require(status in STATUSES, "bad_status")
    if status == "failed":
        return {"status": "failed", "reward": 0.0, "failure": given.get("failure"), "parts": None}
    vectors = given.get("vectors")
    if status == "unscored" or (isinstance(vectors, list) and None in vectors):
        return {"status": "unscored", "reward": None, "failure": "validator_fault", "parts": None}
    limits = _parse_limits(given, params)
    lengths, seconds = given["lengths"], given["seconds"]
    chunk_of, rows = _parse_vectors(given.get("chunk_of"), vectors, len(lengths))
    similarity = compare_segments(rows, one_family(chunk_of, len(lengths)))[0]
    retrieval = given.get("retrieval")
    require(retrieval is None or (is_number(retrieval, 0) and retrieval <= 1), "bad_retrieval")
    reward, parts = reward_chunking(
        similarity, lengths, given["chunk_size"], given["chunk_qty"], seconds, limits, params, retrieval
    )
    return {"status": "valid", "reward": reward, "failure": None, "parts": parts}


def _parse_limits(given: Input, params: ChunkingParams) -> float:
    """Check the limits of a valid answer; gives its soft time limit."""
    lengths = given.get("lengths")
    soft = given.get("time_soft_max", params.time_soft_max)
    require(is_integer(given.get("chunk_size"), 1), "bad_chunk_size")
    require(is_integer(given.get("chunk_qty"), 1), "bad_chunk_qty")
    well_formed = isinstance(lengths, list) and bool(lengths) and all(is_integer(n, 0) for n in lengths)
    require(well_formed, "bad_lengths")
    require(is_number(given.get("seconds")), "bad_seconds")
    require(is_number(soft, 0), "bad_time_soft_max")
    return float(soft)


def _parse_vectors(chunk_of: Any, vectors: Any, chunks: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    lists = isinstance(chunk_of, list) and isinstance(vectors, list) and len(chunk_of) == len(vectors)
    require(lists and all(is_integer(i, 0) and i < chunks for i in chunk_of), "bad_segments")
    widths = {len(row) if isinstance(row, list) else 0 for row in vectors}
    require(len(widths) <= 1 and 0 not in widths, "bad_vectors")
    require(all(is_number(x) and abs(x) <= 1 for row in vectors for x in row), "bad_vectors")
    rows = to_millionths(vectors).reshape(len(vectors), max(widths, default=0))
    return np.asarray(chunk_of, dtype=np.int64), rows


def groups_stage(given: Input) -> dict[str, Any]:
    params = _parse_params(given)
    size = given.get("group_size", params.group_size)
    if not is_integer(size, 1):
        raise WeighbeamError("bad_group_size")
    ranking, wanted, seed = given["ranking"], given.get("wanted") or [], _parse_seed(given)
    require(len(set(ranking)) == len(ranking), "duplicate_hotkey")
    require(not wanted or seed is not None, "missing_seed")
    groups = form_groups(ranking, size, params.rank_values)
    chosen = None if seed is None else draw_group(groups, seed, wanted)
    extra, unknown = split_wanted(groups, chosen, wanted)
    return {
        "groups": [list(groups.members(i)) for i in range(len(groups.ranges))],
        "ranges": [list(bounds) for bounds in groups.ranges],
        "bases": list(groups.bases),
        "chosen": chosen,
        "extra": list(extra),
        "unknown": list(unknown),
    }


def rank_stage(given: Input) -> dict[str, Any]:
    params = _parse_params(given)
    answers = given["answers"]
    require(all(answer.get("status") in STATUSES for answer in answers), "bad_status")
    scored = all(is_number(answer.get("reward")) for answer in answers if answer["status"] == "valid")
    require(scored, "bad_reward")
    seconds = [answer.get("seconds") for answer in answers]
    results = [
        JudgedChunking(answer["status"], answer.get("reward"), spent if is_number(spent) else math.inf)
        for answer, spent in zip(answers, seconds, strict=True)
    ]
    ranked = rank_answers(results, params.ties)
    return {"places": list(ranked.places), "judged": ranked.judged, "best": ranked.best}


def stand_stage(given: Input) -> dict[str, Any]:
    params = _parse_params(given)
    rounds = given["rounds"]
    hotkeys = [[row["hotkey"] for row in one["results"]] for one in rounds]
    require(all(len(set(asked)) == len(asked) for asked in hotkeys), "duplicate_hotkey")
    scores = _parse_scores(given["standings"])
    _check_rounds(rounds, params)
    for one in rounds:
        placed = [PlacedMiner(row["hotkey"], row["status"], row.get("place")) for row in one["results"]]
        scores = apply_round(scores, placed, one.get("base", 0), params, one.get("group"), one.get("groups"))
    return {
        "scores": [{"hotkey": hotkey, "score": score} for hotkey, score in scores.items()],
        "ranking": order_standings(scores, given.get("seed", 0)),
    }


def _check_rounds(rounds: Sequence[Input], params: ChunkingParams) -> None:
    rows = [row for one in rounds for row in one["results"]]
    require(all(is_number(one.get("base", 0), 0) for one in rounds), "bad_base")
    require(all(row.get("status") in STATUSES for row in rows), "bad_status")
    judged = [row.get("place") for row in rows if row["status"] != "unscored"]
    require(all(is_number(place, 0) for place in judged), "bad_place")
    if params.alpha_min is not None:
        drawn = [(one.get("group"), one.get("groups")) for one in rounds]
        require(all(is_integer(k, 0) and is_integer(count, 1) and k < count for k, count in drawn), "bad_group")


def weigh_stage(given: Input) -> dict[str, Any]:
    params = _parse_params(given)
    scores = _parse_scores(given["scores"])
    raw = weigh_scores(scores, given.get("eligible"), params.curve)
    values = list(raw.values())
    integers = to_u16(values)
    paid = [hotkey for hotkey, value in raw.items() if value > 0]
    return {
        "ranking": sorted(paid, key=lambda hotkey: (scores[hotkey], hotkey)),
        "raw": values,
        "weights": normalise(values),
        "u16": integers,
        "nonzero": sum(value > 0 for value in integers),
    }


def _parse_scores(rows: Sequence[Input]) -> dict[str, float | None]:
    scores: dict[str, float | None] = {row["hotkey"]: row.get("score") for row in rows}
    require(len(scores) == len(rows), "duplicate_hotkey")
    require(all(score is None or is_number(score) for score in scores.values()), "bad_score")
    return scores


def _parse_params(given: Input) -> ChunkingParams:
    overrides = given.get("params", {})
    require(isinstance(overrides, dict), "bad_params")
    try:
        return ChunkingParams(**overrides)
    except (TypeError, ValueError):
        raise WeighbeamError("bad_params") from None


def _parse_seed(given: Input) -> Seed | None:
    seed = given.get("seed")
    return seed if isinstance(seed, str) or is_integer(seed) else None


STAGES: Mapping[str, Stage] = {
    "chunking.check": check_stage,
    "chunking.sample": sample_stage,
    "chunking.places": places_stage,
    "chunking.reward": reward_stage,
    "chunking.groups": groups_stage,
    "chunking.rank": rank_stage,
    "chunking.retrieval": retrieval_stage,
    "chunking.borders": borders_stage,
    "chunking.stand": stand_stage,
    "chunking.weigh": weigh_stage,
}
