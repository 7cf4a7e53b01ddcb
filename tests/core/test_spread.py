"""One standard error of a standing is what standings really scatter by."""

import math
import random
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.core.stats import move_average, spread_average, spread_course
from weighbeam.mechanism.records import Standing
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.stand import Memory, remember_scores, spread_responses

ROUNDS, MINERS = 32, 1500


def walk(rng: random.Random, alpha: float, rounds: int, start: float = 5.0) -> list[float]:
    """An average of rounds that are all alike."""
    course = [start]
    for _ in range(rounds):
        course.append(move_average(course[-1], rng.uniform(0, 10), alpha))
    return course


@pytest.mark.parametrize("alpha", [0.05, 0.15, 0.3, 0.7])
@pytest.mark.parametrize("rounds", [8, 100])
def test_the_mean_estimate_is_the_scatter_of_standings(alpha: float, rounds: int) -> None:
    rng = random.Random(7)
    courses = [walk(rng, alpha, rounds) for _ in range(MINERS)]
    estimates = [spread_course(course[-ROUNDS - 1 :], alpha) for course in courses]
    assert fmean(filter(None, estimates)) == pytest.approx(stdev(course[-1] for course in courses), rel=0.15)


@pytest.mark.parametrize("responses", [3, 20, 98, 110, 160])
def test_evidence_knows_how_fast_it_learnt(responses: int) -> None:
    rng, params = random.Random(8), EvidenceParams()
    ends, estimates = [], []
    for _ in range(800):
        memories = remember_scores(Memory(), [rng.uniform(0, 10) for _ in range(responses)], params)
        course = [memory.average for memory in memories if memory.average is not None][-ROUNDS:]
        ends.append(course[-1])
        standing = Standing("a", course[-1], {"responses": responses})
        estimates.append(spread_responses(params, standing, course) or math.nan)
    assert fmean(estimates) == pytest.approx(stdev(ends), rel=0.15)


def test_emissions_from_zero_on() -> None:
    rng = random.Random(9)
    ends, estimates = [], []
    for _ in range(MINERS):
        paid, average = [rng.uniform(0, 1) for _ in range(10)], 0.0
        for emission in paid:
            average = move_average(average, emission, 0.3)
        ends.append(average)
        estimates.append(spread_average(paid, [0.3] * len(paid)) or math.nan)
    assert fmean(estimates) == pytest.approx(stdev(ends), rel=0.15)


@given(st.lists(st.floats(0, 100), max_size=3), st.floats(0.01, 1))
def test_fewer_than_three_rounds_tell_nothing(course: list[float], alpha: float) -> None:
    assert spread_course(course, alpha) is None


@given(st.lists(st.floats(0, 100), min_size=4, max_size=40), st.floats(0.01, 1))
def test_a_spread_is_a_number_not_below_zero(course: list[float], alpha: float) -> None:
    found = spread_course(course, alpha)
    assert found is not None
    assert math.isfinite(found)
    assert found >= 0


def test_where_a_tie_or_a_group_changes_the_weight_nothing_is_said() -> None:
    course, standing = [1.0, 2.0, 1.0, 3.0], Standing("a", 3.0)
    assert Chunking().spread(ChunkingParams(), standing, course) is not None
    assert Chunking().spread(ChunkingParams(tie_alpha="halve"), standing, course) is None
    assert Chunking().spread(ChunkingParams(alpha_min=0.1), standing, course) is None
