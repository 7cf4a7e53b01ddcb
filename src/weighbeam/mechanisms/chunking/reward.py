"""From recorded vectors and lengths to a reward with its parts (spec §§ 6, 7)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weighbeam.core.numbers import round_significant
from weighbeam.core.quantise import MILLION
from weighbeam.core.similarity import Family, PairSums, mean_of, sum_pairs_each
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
        return sum(size == 1 for size in self.sums.group_sizes)


def compare_segments(answers: Sequence[Family]) -> list[Similarity]:
    """Exact mean similarity within and between the chunks of each answer.

    An answer is its segments' vectors (n, d) in integer millionths, their chunk numbers (n), and its number of chunks.
    """
    return [
        Similarity(
            intra=mean_of(sums.same, sums.same_pairs, SQUARE_SCALE),
            inter=mean_of(sums.diff, sums.diff_pairs, SQUARE_SCALE),
            sums=sums,
        )
        for sums in sum_pairs_each(answers)
    ]


def penalise_size(lengths: Sequence[int], chunk_size: int, params: ChunkingParams) -> float:
    """Exponent for characters over `chunk_size`, per relative excess, summed over chunks."""
    return params.size_factor * (sum(max(0, length - chunk_size) for length in lengths) / chunk_size)


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


def recompute_reward(parts: Mapping[str, Any]) -> float:
    """The reward from its parts: similarity (or e to it, under `exp`) times factor."""
    worth = math.exp(parts["similarity"]) if parts["shape"] == "exp" else parts["similarity"]
    return round_significant(worth * parts["factor"])


def reward_chunking(
    similarity: Similarity,
    lengths: Sequence[int],
    chunk_size: int,
    chunk_qty: int,
    seconds: float,
    time_soft_max: float,
    params: ChunkingParams,
) -> tuple[float, dict[str, Any]]:
    """The reward of a valid answer and the parts that explain it."""
    size = penalise_size(lengths, chunk_size, params)
    quantity = penalise_quantity(len(lengths), chunk_qty, params)
    time = penalise_time(seconds, time_soft_max)
    exponent = min(size + quantity + time, params.max_exponent)
    factor, reward = shape_reward(similarity.value, exponent, params)
    sums = similarity.sums
    parts = {
        "shape": params.shape,
        "intra": similarity.intra,
        "inter": similarity.inter,
        "intra_pairs": sums.same_pairs,
        "inter_pairs": sums.diff_pairs,
        "similarity": similarity.value,
        "size_penalty": size,
        "qty_penalty": quantity,
        "time_penalty": time,
        "exponent": exponent,
        "factor": factor,
        "unpaired": similarity.unpaired,
        "chunks": [
            {
                "segments": count,
                "intra": mean_of(total, count * (count - 1) // 2, SQUARE_SCALE) if count > 1 else None,
                "size_penalty": penalise_size([length], chunk_size, params) if length > chunk_size else 0.0,
            }
            for count, total, length in zip(sums.group_sizes, sums.group_sums, lengths, strict=True)
        ],
    }
    return reward, parts


def bound_reward(params: ChunkingParams) -> tuple[float, float]:
    """The least and greatest reward; quantised unit vectors may exceed length 1 by 1e-5."""
    most = 2.0001
    if params.shape == "exp":
        return 0.0, math.exp(most)
    if params.shape == "literal":
        return -most, most
    return -most / params.base**params.max_exponent, most
