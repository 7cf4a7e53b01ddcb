"""Rank correlations against SciPy's."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.core.stats import kendall_tau, spearman

PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=0, max_size=30)


@given(PAIRS)
def test_they_are_scipys(pairs: list[tuple[int, int]]) -> None:
    from scipy import stats

    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    if len(set(one)) < 2 or len(set(other)) < 2:
        assert kendall_tau(one, other) is None
        assert spearman(one, other) is None
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert kendall_tau(one, other) == pytest.approx(stats.kendalltau(one, other).statistic)
        assert spearman(one, other) == pytest.approx(stats.spearmanr(one, other).statistic)
