"""From recorded vectors and lengths to a reward with its parts (spec §§ 6, 7)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.numbers import round_significant
from weighbeam.core.quantise import MILLION
from weighbeam.core.similarity import Families, PairSums, mean_of, sum_pairs_each
from weighbeam.mechanisms.chunking.params import ChunkingParams

SQUARE_SCALE = MILLION * MILLION


@dataclass(frozen=True, slots=True)
class Similarity:
    """How alike the parts of one chunk are, against those of different chunks."""

    intra: float
    inter: float
    sums: PairSums

    @property
    def value(self) -> float:
        return self.intra - self.inter

    @property
    def unpaired(self) -> int:
        return self.sums.group_sizes.count(1)


def compare_segments(vectors: NDArray[np.integer], answers: Families) -> list[Similarity]:
    """Exact mean similarity within and between the chunks of each answer, from vectors in integer millionths."""
    return [
        Similarity(
            intra=mean_of(sums.same, sums.same_pairs, SQUARE_SCALE),
            inter=mean_of(sums.diff, sums.diff_pairs, SQUARE_SCALE),
            sums=sums,
        )
        for sums in sum_pairs_each(vectors, answers)
    ]


def penalise_size(lengths: Sequence[int], chunk_size: int, params: ChunkingParams) -> float:
    """Exponent for characters over `chunk_size`, per relative excess, summed over chunks."""
    return params.size_factor * (sum([length - chunk_size for length in lengths if length > chunk_size]) / chunk_size)


def penalise_quantity(chunks: int, chunk_qty: int, params: ChunkingParams) -> float:
    """Exponent for chunks over `chunk_qty`; empty ones count."""
    return params.qty_factor * (max(0, chunks - chunk_qty) / chunk_qty)


def penalise_time(seconds: float, time_soft_max: float) -> float:
    """Exponent for seconds over the soft limit; fractions count."""
    return max(0.0, max(0.0, seconds) - time_soft_max)


def shape_reward(similarity: float, exponent: float, params: ChunkingParams) -> tuple[float, float]:
    """The factor that penalties become, and the reward rounded to 12 significant digits.

    >>> shape_reward(0.5, 1.0, ChunkingParams(base=0.5))
    (0.5, 0.25)
    >>> shape_reward(-0.5, 1.0, ChunkingParams(base=0.5))
    (2.0, -1.0)
    """
    factor = params.base**exponent
    if params.shape == "signed" and similarity < 0:
        factor = 1.0 / factor
    return factor, recompute_reward({"shape": params.shape, "similarity": similarity, "factor": factor})


def mix_retrieval(parts: Mapping[str, Any]) -> float:
    """The value that penalties multiply: the similarity, or its mean with retrieval where the round counts that.

    >>> mix_retrieval({"similarity": 0.2, "retrieval": 0.9, "retrieval_weight": 0.25})
    0.375
    """
    similarity: float = parts["similarity"]
    if "retrieval" not in parts:
        return similarity
    weight: float = parts["retrieval_weight"]
    return round_significant((1 - weight) * similarity + weight * parts["retrieval"])


def recompute_reward(parts: Mapping[str, Any]) -> float:
    """The reward from its parts: similarity, mixed with retrieval (or e to it, under `exp`), times factor."""
    value = mix_retrieval(parts)
    worth = math.exp(value) if parts["shape"] == "exp" else value
    return round_significant(worth * parts["factor"])


def reward_chunking(
    similarity: Similarity,
    lengths: Sequence[int],
    chunk_size: int,
    chunk_qty: int,
    seconds: float,
    time_soft_max: float,
    params: ChunkingParams,
    retrieval: float | None = None,
) -> tuple[float, dict[str, Any]]:
    """The reward of a valid answer and the parts that explain it."""
    judged = judge_chunking(similarity, lengths, chunk_size, chunk_qty, params, retrieval)
    return charge_time(judged, penalise_time(seconds, time_soft_max), params)


def judge_chunking(
    similarity: Similarity,
    lengths: Sequence[int],
    chunk_size: int,
    chunk_qty: int,
    params: ChunkingParams,
    retrieval: float | None = None,
) -> dict[str, Any]:
    """The parts of a reward that all miners with the same answer share."""
    sums, per_excess = similarity.sums, params.size_factor
    counted = {} if retrieval is None else {"retrieval": retrieval, "retrieval_weight": params.retrieval_weight}
    return {
        "shape": params.shape,
        "intra": similarity.intra,
        "inter": similarity.inter,
        "intra_pairs": sums.same_pairs,
        "inter_pairs": sums.diff_pairs,
        "similarity": similarity.value,
        **counted,
        "size_penalty": penalise_size(lengths, chunk_size, params),
        "qty_penalty": penalise_quantity(len(lengths), chunk_qty, params),
        "unpaired": similarity.unpaired,
        "chunks": [
            {
                "segments": count,
                "intra": total / (count * (count - 1) // 2 * SQUARE_SCALE) if count > 1 else None,
                "size_penalty": per_excess * ((length - chunk_size) / chunk_size) if length > chunk_size else 0.0,
            }
            for count, total, length in zip(sums.group_sizes, sums.group_sums, lengths, strict=True)
        ],
    }


def charge_time(judged: Mapping[str, Any], time: float, params: ChunkingParams) -> tuple[float, dict[str, Any]]:
    """The reward and all its parts, from those of the answer and the miner's own time penalty."""
    exponent = min(judged["size_penalty"] + judged["qty_penalty"] + time, params.max_exponent)
    factor, reward = shape_reward(mix_retrieval(judged), exponent, params)
    return reward, {**judged, "time_penalty": time, "exponent": exponent, "factor": factor}


def bound_reward(params: ChunkingParams) -> tuple[float, float]:
    """The least and greatest reward; quantised unit vectors may exceed length 1 by 1e-5."""
    limit = 2.0001
    if params.shape == "exp":
        return 0.0, math.exp(limit)
    if params.shape == "literal":
        return -limit, limit
    return -limit / params.base**params.max_exponent, limit
