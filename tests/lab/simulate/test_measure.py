"""Profit, detection and accuracy from made-up seasons whose answers are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.lab.simulate.measure import (
    STUDENT,
    Interval,
    Trial,
    estimate_ratio,
    estimate_share,
    judge_profit,
    kendall,
    measure,
)


def make_trial(seed: int, attacker: float, honest: float, signs: tuple[int, ...] = ()) -> Trial:
    earned = {"a": attacker, "h1": honest, "h2": honest}
    return Trial(
        seed=seed,
        earned=earned,
        attackers=frozenset("a"),
        honest=frozenset({"h1", "h2"}),
        fair=sum(earned.values()) / 3,
        signs={"a": signs, "h1": (19, 18, 17), "h2": (20, 21, 22)},
        turns={"a": 30, "h1": 30, "h2": 30},
        skill={"h1": 0.1, "h2": 0.9},
        standing={"h1": 1.0, "h2": 2.0, "a": 3.0},
    )


def test_profit_is_one_where_all_earn_the_same_and_signs_count_in_the_first_twenty_turns() -> None:
    outcome = measure([make_trial(seed, 1.0, 1.0, (0, 1)) for seed in range(8)])
    assert outcome.profit == Interval(1.0, 1.0, 1.0)
    assert outcome.taken.value == pytest.approx(1 / 3)
    assert (outcome.detection.value, outcome.false_positives.value) == (0.0, 0.5)
    assert outcome.tau.value == 1.0
    assert outcome.verdict == "unclear"


def test_whoever_takes_everything_pays_and_nothing_is_closed() -> None:
    assert measure([make_trial(seed, 3.0, 0.1) for seed in range(4)]).verdict == "pays"
    assert measure([make_trial(seed, 0.0, 1.0) for seed in range(4)]).verdict == "closed"
    assert measure([make_trial(seed, 0.5, 1.0) for seed in range(4)]).verdict == "loses"


def test_an_interval_over_seeds_holds_the_truth_about_as_often_as_it_says() -> None:
    chance, held = np.random.default_rng(7), 0
    for _ in range(300):
        found = estimate_ratio(chance.normal(1.0, 0.3, 12).tolist(), [1.0] * 12)
        held += found.low <= 1.0 <= found.high
    assert 0.92 <= held / 300 <= 0.98


@given(st.lists(st.floats(0, 10), min_size=1, max_size=12))
def test_an_interval_holds_its_estimate(values: list[float]) -> None:
    found = estimate_ratio(values, [1.0] * len(values))
    assert found.low - 1e-9 <= found.value <= found.high + 1e-9


@given(st.integers(1, 40), st.data())
def test_a_share_lies_in_its_interval_which_narrows(count: int, data: st.DataObject) -> None:
    share = data.draw(st.integers(0, count)) / count
    narrow, wide = estimate_share(share, 4 * count), estimate_share(share, count)
    assert 0 <= wide.low <= share <= wide.high <= 1
    assert narrow.high - narrow.low < wide.high - wide.low


def test_one_season_and_one_without_pay_prove_nothing() -> None:
    assert measure([make_trial(0, 3.0, 0.1)]).verdict == "unclear"
    nothing = measure([make_trial(seed, 0.0, 0.0) for seed in range(8)])
    assert (nothing.verdict, nothing.unpaid) == ("unclear", 1.0)


def test_students_numbers_are_scipys() -> None:
    from scipy.stats import t

    assert len(STUDENT) == 30
    assert all(abs(t.ppf(0.975, freedom) - value) < 1e-4 for freedom, value in STUDENT.items())


def test_kendall_agrees_with_scipy() -> None:
    from scipy.stats import kendalltau

    chance = np.random.default_rng(3)
    for _ in range(20):
        skill, standing = chance.integers(0, 5, 9).tolist(), chance.integers(0, 5, 9).tolist()
        names = [f"m{i}" for i in range(9)]
        trial = Trial(
            0,
            {},
            frozenset(),
            frozenset(names),
            1.0,
            {},
            {},
            dict(zip(names, map(float, skill), strict=True)),
            dict(zip(names, map(float, standing), strict=True)),
        )
        assert kendall(trial) == pytest.approx(kendalltau(skill, standing).statistic)


def test_a_verdict_needs_the_whole_interval() -> None:
    assert judge_profit(Interval(1.4, 1.01, 2.0)) == "pays"
    assert judge_profit(Interval(0.9, 0.7, 1.0)) == "unclear"
    assert judge_profit(Interval(0.9, 0.7, 0.99)) == "loses"
    assert judge_profit(Interval(0.05, 0.0, 0.1)) == "closed"
