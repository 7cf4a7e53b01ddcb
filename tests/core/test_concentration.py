"""How shares are spread: bounds, and no order matters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.core.stats import effective_number, gini, top_share

AMOUNTS = st.lists(st.floats(0, 1e6), min_size=1, max_size=40)


@given(AMOUNTS, st.randoms())
def test_the_order_of_amounts_changes_nothing(amounts: list[float], rng) -> None:
    mixed = amounts[:]
    rng.shuffle(mixed)
    assert gini(mixed) == gini(amounts)
    assert top_share(mixed, 3) == top_share(amounts, 3)
    assert effective_number(mixed) == pytest.approx(effective_number(amounts))


@given(AMOUNTS)
def test_measures_keep_their_bounds(amounts: list[float]) -> None:
    positive = sum(amount > 0 for amount in amounts)
    assert 0 <= gini(amounts) <= 1 - 1 / len(amounts)
    assert 0 <= top_share(amounts, 1) <= top_share(amounts, 3) <= 1
    assert min(1, positive) <= effective_number(amounts) <= positive


@given(st.integers(1, 50), st.floats(0.001, 1e6))
def test_equals_are_as_many_as_they_are(count: int, amount: float) -> None:
    assert effective_number([amount] * count) == pytest.approx(count)
    assert gini([amount] * count) == pytest.approx(0, abs=1e-9)
