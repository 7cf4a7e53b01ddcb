"""Reward from given vectors: the closed form against the pair loop, and how its cost grows."""

from collections.abc import Iterator
from functools import partial
from time import process_time

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Line, time_alternately, time_once
from benchmarks.seed_loop import reward_by_pairs
from weighbeam.core.quantise import MILLION, unit_millionths
from weighbeam.core.similarity import Families, one_family
from weighbeam.mechanisms.chunking.reward import compare_segments

ANSWERS, SEGMENTS, DIMENSIONS, CHUNKS = 25, 150, 384, 20
SIZES = (150, 1_500, 15_000)


def measure_reward() -> Iterator[Line]:
    rng = np.random.default_rng(7)
    answers = [_answer(rng, SEGMENTS) for _ in range(ANSWERS)]

    given = [(vectors / MILLION, chunk_of.tolist()) for vectors, chunk_of in answers]

    def seed() -> list[float]:
        return [reward_by_pairs(*one) for one in given]

    table = np.concatenate([vectors for vectors, _ in answers])
    chunk_of = np.concatenate([chunks for _, chunks in answers])
    families = Families(np.arange(len(table)), chunk_of, [SEGMENTS] * ANSWERS, [CHUNKS] * ANSWERS)

    def ours() -> list[float]:
        return [similarity.value for similarity in compare_segments(table, families)]

    worst = max(abs(a - b) for a, b in zip(seed(), ours(), strict=True))
    yield Line("closed form against pair loop, largest difference", f"{worst:.1e}", "≤ 1e-12", worst <= 1e-12)
    size = f"{ANSWERS} answers × {SEGMENTS} segments × {DIMENSIONS}"
    loop, closed = time_alternately(seed, ours, 15, process_time)
    yield _compare(f"reward, {size}, the loop given numpy rows", loop, closed)
    lists = [((vectors / MILLION).tolist(), chunk_of.tolist()) for vectors, chunk_of in answers]
    slow, closed = time_alternately(lambda: [reward_by_pairs(*lists[0])], ours, 1, process_time)
    yield _compare(f"reward, {size}, the loop given lists as an API returns them", slow * ANSWERS, closed)
    yield from _measure_growth(rng)


def _compare(what: str, loop: float, closed: float) -> Line:
    ratio = loop / closed
    return Line(what, f"{ratio:.0f}× ({loop * 1e3:.0f} ms → {closed * 1e3:.2f} ms)", "≥ 150×", ratio >= 150)


def _measure_growth(rng: np.random.Generator) -> Iterator[Line]:
    seconds = {}
    for size in SIZES:
        vectors, chunk_of = _answer(rng, size)
        run = partial(compare_segments, vectors, one_family(chunk_of, CHUNKS))
        seconds[size] = min(time_once(run, process_time) for _ in range(9))
    per_segment = {size: spent / size * 1e6 for size, spent in seconds.items()}
    shown = ", ".join(f"{size}: {spent * 1e3:.2f} ms" for size, spent in seconds.items())
    growth = per_segment[SIZES[-1]] / per_segment[SIZES[1]]
    linear = "linear: time per segment from 1,500 to 15,000 grows ≤ 2×"
    yield Line("reward by number of segments", f"{shown} ({growth:.2f}× per segment)", linear, growth <= 2)


def _answer(rng: np.random.Generator, segments: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    vectors = unit_millionths(rng.normal(size=(segments, DIMENSIONS)))
    return vectors, np.sort(rng.integers(0, CHUNKS, segments))
