"""Rewards: what the specification promises of every possible answer."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.core.quantise import unit_millionths
from weighbeam.core.similarity import one_family
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.reward import (
    bound_reward,
    compare_segments,
    recompute_reward,
    reward_chunking,
    shape_reward,
)

similarities = st.floats(-2, 2, allow_subnormal=False)
exponents = st.floats(0, 1000)
penalising = st.sampled_from(["signed", "exp"])


def reward(lengths: list[int], seconds: float, params: ChunkingParams, seed: int = 1) -> tuple[float, dict]:
    rng = np.random.default_rng(seed)
    chunk_of = np.sort(rng.integers(0, len(lengths), 12))
    vectors = unit_millionths(rng.normal(size=(12, 8)))
    similarity = compare_segments(vectors, one_family(chunk_of, len(lengths)))[0]
    return reward_chunking(similarity, lengths, 100, 4, seconds, 3.75, params)


@given(similarities, exponents, exponents, penalising)
def test_a_penalty_never_helps(similarity: float, less: float, more: float, shape: str) -> None:
    params = ChunkingParams(shape=shape)
    less, more = sorted((less, more))
    assert shape_reward(similarity, more, params)[1] <= shape_reward(similarity, less, params)[1]


def test_the_literal_shape_is_the_one_where_a_penalty_helps() -> None:
    params = ChunkingParams(shape="literal")
    assert shape_reward(-0.5, 3, params)[1] > shape_reward(-0.5, 0, params)[1]


@given(
    st.lists(st.integers(0, 500), min_size=1, max_size=8),
    st.floats(0, 60),
    st.integers(0, 400),
    st.floats(0, 30),
    penalising,
    st.integers(0, 50),
)
def test_longer_or_later_is_never_better(lengths, seconds, extra, later, shape, seed) -> None:
    params = ChunkingParams(shape=shape)
    before, _ = reward(lengths, seconds, params, seed)
    longer, _ = reward([lengths[0] + extra, *lengths[1:]], seconds, params, seed)
    slower, _ = reward(lengths, seconds + later, params, seed)
    assert longer <= before
    assert slower <= before


@given(similarities, exponents, st.sampled_from(["signed", "literal", "exp"]), st.floats(0.5, 1))
def test_rewards_are_finite_within_bounds_and_follow_from_their_parts(similarity, exponent, shape, base) -> None:
    params = ChunkingParams(shape=shape, base=base)
    factor, value = shape_reward(similarity, exponent, params)
    low, high = bound_reward(params)
    assert math.isfinite(value)
    assert low <= value <= high
    assert recompute_reward({"shape": shape, "similarity": similarity, "factor": factor}) == value


def test_negative_seconds_act_as_zero() -> None:
    assert reward([50], -5.0, ChunkingParams()) == reward([50], 0.0, ChunkingParams())


def test_the_parts_add_up() -> None:
    value, parts = reward([150, 90, 30, 40, 20], 5.0, ChunkingParams())
    assert parts["similarity"] == parts["intra"] - parts["inter"]
    assert parts["size_penalty"] == 10 * 50 / 100
    assert parts["qty_penalty"] == 100 * 1 / 4
    assert parts["time_penalty"] == 1.25
    assert parts["exponent"] == parts["size_penalty"] + parts["qty_penalty"] + parts["time_penalty"]
    assert sum(chunk["segments"] for chunk in parts["chunks"]) == 12
    assert math.isclose(sum(chunk["size_penalty"] for chunk in parts["chunks"]), parts["size_penalty"])
    assert value == recompute_reward(parts)
