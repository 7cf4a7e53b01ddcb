"""The closed form is the pair loop, exactly, whatever the size of the numbers."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.core import exact
from weighbeam.core.quantise import MILLION, unit_millionths
from weighbeam.core.similarity import Families, PairSums, one_family, sum_pairs_each


def sum_pairs(vectors: np.ndarray, group_of: np.ndarray, groups: int) -> PairSums:
    return sum_pairs_each(vectors, one_family(group_of, groups))[0]


def loop(vectors: list[list[int]], group_of: list[int]) -> tuple[int, int, int, int]:
    same = same_pairs = diff = diff_pairs = 0
    for i, j in combinations(range(len(vectors)), 2):
        product = sum(a * b for a, b in zip(vectors[i], vectors[j], strict=True))
        if group_of[i] == group_of[j]:
            same, same_pairs = same + product, same_pairs + 1
        else:
            diff, diff_pairs = diff + product, diff_pairs + 1
    return same, same_pairs, diff, diff_pairs


def closed(vectors: list[list[int]], group_of: list[int], groups: int) -> tuple[int, int, int, int]:
    rows = np.array(vectors, dtype=np.int64).reshape(len(vectors), len(vectors[0]) if vectors else 2)
    sums = sum_pairs(rows, np.array(group_of, dtype=np.int64), groups)
    return sums.same, sums.same_pairs, sums.diff, sums.diff_pairs


@st.composite
def grouped(draw: st.DrawFn, largest: int) -> tuple[list[list[int]], list[int], int]:
    groups = draw(st.integers(1, 6))
    width = draw(st.integers(1, 5))
    row = st.lists(st.integers(-largest, largest), min_size=width, max_size=width)
    vectors = draw(st.lists(row, max_size=12))
    size = len(vectors)
    group_of = draw(st.lists(st.integers(0, groups - 1), min_size=size, max_size=size))
    return vectors, group_of, groups


@given(grouped(MILLION))
def test_closed_form_equals_pair_loop(case: tuple[list[list[int]], list[int], int]) -> None:
    vectors, group_of, groups = case
    assert closed(vectors, group_of, groups) == loop(vectors, group_of)


@given(grouped(2**40))
def test_numbers_too_large_for_floats_and_int64_stay_exact(case: tuple[list[list[int]], list[int], int]) -> None:
    vectors, group_of, groups = case
    assert closed(vectors, group_of, groups) == loop(vectors, group_of)


@given(st.integers(2, 9), st.randoms(use_true_random=False))
def test_blocks_split_groups_without_a_trace(block: int, random) -> None:
    rng = np.random.default_rng(random.randrange(2**32))
    vectors, group_of = rng.integers(-MILLION, MILLION, (40, 3)), np.sort(rng.integers(0, 7, 40))
    whole = sum_pairs(vectors, group_of, 7)
    before = exact.BLOCK
    exact.BLOCK = block
    try:
        assert sum_pairs(vectors, group_of, 7) == whole
    finally:
        exact.BLOCK = before


def test_past_three_thousand_segments_squares_outgrow_int64() -> None:
    vectors = np.zeros((5000, 2), dtype=np.int32)
    vectors[:, 0] = MILLION
    sums = sum_pairs(vectors, np.zeros(5000, dtype=np.int64), 1)
    assert (5000 * MILLION) ** 2 > 2**63
    assert sums.same == 5000 * 4999 // 2 * MILLION**2


def test_order_and_layout_do_not_matter() -> None:
    rng = np.random.default_rng(3)
    vectors, group_of = unit_millionths(rng.normal(size=(200, 384))), rng.integers(0, 9, 200)
    shuffled = rng.permutation(200)
    assert sum_pairs(vectors, group_of, 9) == sum_pairs(np.asfortranarray(vectors)[shuffled], group_of[shuffled], 9)


def test_families_at_once_equal_families_alone() -> None:
    rng = np.random.default_rng(4)
    vectors = rng.integers(-9, 9, (10, 4))
    counts, groups = [7, 0, 12, 1], [3, 1, 5, 9]
    rows = [rng.integers(0, 10, n) for n in counts]
    group_of = [rng.integers(0, k, n) for n, k in zip(counts, groups, strict=True)]
    together = sum_pairs_each(vectors, Families(np.concatenate(rows), np.concatenate(group_of), counts, groups))
    assert together == [sum_pairs(vectors[r], g, k) for r, g, k in zip(rows, group_of, groups, strict=True)]


def test_no_family_no_sums() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    assert sum_pairs_each(np.zeros((0, 4), dtype=np.int32), Families(nothing, nothing, [], [])) == []


def test_a_row_that_is_not_there_is_refused() -> None:
    with pytest.raises(IndexError):
        sum_pairs_each(np.ones((2, 3), dtype=np.int32), Families(np.array([0, 2]), np.array([0, 0]), [2], [1]))


def test_empty_groups_cost_no_memory_and_change_nothing() -> None:
    rng = np.random.default_rng(5)
    vectors, group_of = rng.integers(-9, 9, (6, 384)), np.array([0, 0, 2, 2, 2, 1])
    spread = sum_pairs(vectors, group_of * 400_000, 1_000_000)
    dense = sum_pairs(vectors, group_of, 3)
    assert (spread.same, spread.diff, spread.same_pairs) == (dense.same, dense.diff, dense.same_pairs)
    assert [spread.group_sums[g * 400_000] for g in range(3)] == list(dense.group_sums)
    assert sum(spread.group_sizes) == 6
