"""What an answer outside the consensus gains where answers are read by kind."""

import pytest

from weighbeam.mechanisms.inference.composite import MEMBER, Standpoint, compose_parts
from weighbeam.mechanisms.inference.params import InferenceParams


def gain(near: float, typical: float | None) -> float:
    stands = Standpoint(near, 0.9, 0.5, member=False, removed="other_cluster", diverse=True, typical=typical)
    return float(compose_parts(stands, InferenceParams())["diversity"])


@pytest.mark.parametrize("typical", [0.05, 0.2, 0.36, 0.8])
@pytest.mark.parametrize("near", [0.0, 0.04, 0.2, 0.36, 0.7, 1.0])
def test_never_more_than_a_member_of_the_consensus(near: float, typical: float) -> None:
    assert 0.0 <= gain(near, typical) <= MEMBER


def test_nothing_for_an_answer_that_nobody_supports() -> None:
    assert gain(0.0, 0.36) == 0.0
    assert gain(0.04, 0.36) < 2.0 < gain(0.23, 0.36)


def test_nothing_where_the_members_have_nothing_in_common() -> None:
    assert gain(0.3, 0.0) == 0.0


def test_read_literally_it_is_the_further_the_more() -> None:
    assert gain(0.1, None) == pytest.approx(15.0)
    assert gain(0.6, None) < gain(0.4, None)
