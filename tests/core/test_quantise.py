"""A product becomes a similarity in millionths by one rule, in integers."""

from decimal import ROUND_HALF_EVEN, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.quantise import to_micro


@given(st.integers(-(10**12), 10**12) | st.integers(-(10**6), 10**6).map(lambda halves: halves * 500_000))
def test_halves_go_to_even(dot):
    assert to_micro(dot) == int((Decimal(dot) / 10**6).quantize(Decimal(1), ROUND_HALF_EVEN))


def test_a_little_beyond_one_is_one():
    edge = 10**12 + 10**7
    assert (to_micro(edge), to_micro(-edge)) == (10**6, -(10**6))
    for beyond in (edge + 1, -edge - 1):
        with pytest.raises(WeighbeamError, match="bad_similarity"):
            to_micro(beyond)
