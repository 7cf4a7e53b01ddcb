"""Sums and squares of rows never round and never run over, whichever way they are computed."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.core.exact import BLOCK, sum_and_square

EDGE = 2**31 - 1


@given(
    st.lists(
        st.lists(st.sampled_from([0, 1, -3, 10**6, EDGE, -EDGE]), min_size=2, max_size=2), min_size=1, max_size=30
    ),
    st.sampled_from([np.int32, np.int64]),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_sums_and_squares_equal_python_integers(entries, kind, shared, chance) -> None:
    table = np.array(entries, dtype=kind)
    rows = np.array([*range(len(table))] * (1 + shared), dtype=np.intp)
    sizes = []
    while sum(sizes) < len(rows):
        sizes.append(chance.randint(1, len(rows) - sum(sizes)))
    sums, at, squares = sum_and_square(table, rows, np.array(sizes, dtype=np.intp))
    plain = [[int(value) for value in row] for row in entries]
    ends = np.cumsum([0, *sizes]).tolist()
    runs = [rows[start:end].tolist() for start, end in itertools.pairwise(ends)]
    assert sums[at].tolist() == [[sum(plain[row][column] for row in run) for column in (0, 1)] for run in runs]
    assert squares.tolist() == [a * a + b * b for a, b in plain]


def test_a_run_longer_than_a_block_is_summed_and_squared_whole() -> None:
    table = np.arange(2 * (2 * BLOCK + 5), dtype=np.int32).reshape(-1, 2)
    sums, at, squares = sum_and_square(table, np.arange(len(table)), np.array([len(table)]))
    assert sums[at].tolist() == [table.sum(axis=0).tolist()]
    assert squares.tolist() == [int(a) ** 2 + int(b) ** 2 for a, b in table.tolist()]
