"""Gain of each border of a recorded answer: its reward minus that of the same answer without the border.

To remove a border is to join the chunks on both sides of it. Segments stay as they are recorded, so nothing is
embedded or split again: pairs of segments on both sides become pairs within a chunk, the joined chunk has the length
of both, and there is one chunk less. All sums are integers, so a gain is as exact as a reward. Retrieval, where the
round counts it, stays as it is: nobody knows how well the joined chunk would be found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.similarity import Families, PairSums, mean_of, one_family, sum_pairs_each
from weighbeam.mechanism.records import Observation
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.reward import (
    SQUARE_SCALE,
    mix_retrieval,
    penalise_quantity,
    penalise_size,
    penalise_time,
    shape_reward,
)
from weighbeam.mechanisms.chunking.score import find_rows, sampled_rows


@dataclass(frozen=True, slots=True)
class SampledSegments:
    """The sampled segments of an answer, chunk by chunk; `runs` are the chunks that have any, as [start, stop)."""

    vectors: NDArray[np.integer]
    chunk_of: NDArray[np.integer]
    runs: tuple[tuple[int, int], ...]

    def chunk(self, run: int) -> int:
        return int(self.chunk_of[self.runs[run][0]])


@dataclass(frozen=True, slots=True)
class BorderGain:
    """The border before segment `at`, between chunks `before` and `after`; where sampling left out chunks between
    them, all borders in between. `reward` is the one without it. `meaning` is the part of the gain that similarity
    makes under the penalties as they are, `limits` what penalties add to that."""

    at: int
    before: int
    after: int
    reward: float
    gain: float
    meaning: float
    limits: float


def find_answer(observation: Observation, hotkey: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Find the records of a miner and of its answer."""
    miner = next(miner for miner in observation.facts["miners"] if miner["hotkey"] == hotkey)
    return miner, observation.facts["answers"][miner["answer"]]


def list_segments(observation: Observation, answer: Mapping[str, Any]) -> SampledSegments | None:
    """None where there is nothing to compare: the answer failed, has no segment, or a vector is missing."""
    numbers = [answer["segments"][index][1] for index in answer["sampled"]]
    if not numbers or not answer["check"]["ok"] or set(observation.facts["missing"]).intersection(numbers):
        return None
    rows, chunk_of = sampled_rows([answer], find_rows(observation.facts))
    order = np.argsort(chunk_of, kind="stable")
    rows, chunk_of = rows[order], chunk_of[order]
    starts = np.flatnonzero(np.diff(chunk_of, prepend=-1)).tolist()
    return SampledSegments(observation.arrays["vectors"][rows], chunk_of, tuple(pairwise([*starts, len(chunk_of)])))


def measure_borders(
    params: ChunkingParams,
    observation: Observation,
    hotkey: str,
    segments: SampledSegments,
    parts: Mapping[str, Any],
) -> list[BorderGain]:
    """One gain for every two neighbouring chunks that have sampled segments, given the parts of the answer's reward."""
    if len(segments.runs) < 2:
        return []
    miner, answer = find_answer(observation, hotkey)
    task, lengths = observation.facts["task"], answer["lengths"]
    late = penalise_time(miner["seconds"], task["time_soft_max"])
    [sums] = sum_pairs_each(segments.vectors, one_family(segments.chunk_of, len(lengths)))
    over = sum(max(0, length - task["chunk_size"]) for length in lengths)

    def reward(similarity: float, excess: int, chunks: int) -> float:
        size = penalise_size([task["chunk_size"] + excess], task["chunk_size"], params)
        exponent = size + penalise_quantity(chunks, task["chunk_qty"], params) + late
        worth = mix_retrieval({**parts, "similarity": similarity})
        return shape_reward(worth, min(exponent, params.max_exponent), params)[1]

    whole = reward(_similarity(sums, 0, 0), over, len(lengths))
    gains = []
    for run, crossing in enumerate(_sum_neighbours(segments)):
        first, last = segments.chunk(run), segments.chunk(run + 1)
        joined = list(range(first, last + 1))
        own = sum(max(0, lengths[chunk] - task["chunk_size"]) for chunk in joined)
        excess = over - own + max(0, join_lengths(answer, joined) - task["chunk_size"])
        similarity = _similarity(sums, crossing.diff, crossing.diff_pairs)
        unlike = reward(similarity, over, len(lengths))
        without = reward(similarity, excess, len(lengths) - len(joined) + 1)
        gains.append(
            BorderGain(
                at=segments.runs[run][1],
                before=first,
                after=last,
                reward=without,
                gain=whole - without,
                meaning=whole - unlike,
                limits=unlike - without,
            )
        )
    return gains


def join_lengths(answer: Mapping[str, Any], chunks: Sequence[int]) -> int:
    """Characters of the chunks as one: of the document from the first to the last, or all their own where one of them
    has no place in it. What two chunks share counts once, blanks between them count."""
    spans = [answer["check"]["spans"][chunk] for chunk in chunks]
    if any(span is None for span in spans):
        return sum(answer["lengths"][chunk] for chunk in chunks)
    return int(max(span[1] for span in spans) - min(span[0] for span in spans))


def _sum_neighbours(segments: SampledSegments) -> list[PairSums]:
    """Exact sums over the pairs of every two neighbouring chunks; `diff` are those across their border."""
    rows, sides, counts = [], [], []
    for (start, middle), (_, stop) in pairwise(segments.runs):
        rows.append(np.arange(start, stop))
        sides.append((np.arange(start, stop) >= middle).astype(np.intp))
        counts.append(stop - start)
    families = Families(np.concatenate(rows), np.concatenate(sides), counts, [2] * len(counts))
    return sum_pairs_each(segments.vectors, families)


def _similarity(sums: PairSums, moved: int, pairs: int) -> float:
    """Within less between, after so many pairs went from between chunks to within one."""
    within = mean_of(sums.same + moved, sums.same_pairs + pairs, SQUARE_SCALE)
    between = mean_of(sums.diff - moved, sums.diff_pairs - pairs, SQUARE_SCALE)
    return within - between
