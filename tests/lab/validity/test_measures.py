"""Figures against numbers worked out by hand, and what holds for any numbers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.lab.validity.labels import measure_calls, measure_classes, measure_repeats
from weighbeam.lab.validity.measures import (
    CELLS,
    Finding,
    Findings,
    Statistic,
    auc_of,
    average_sets,
    calibrate,
    calibration_error_of,
    compare,
    count_confusion,
    estimate,
    join_calibrations,
    join_confusions,
    macro_f1_of,
    mean_of,
    ratio_of,
)

CLASSES = ("no", "open", "yes")
LABELLED = st.lists(st.tuples(st.floats(-5, 5).map(lambda x: round(x, 1)), st.booleans()), min_size=1, max_size=30)


def once(statistic: Statistic, cases: int) -> float:
    return float(statistic(np.ones((1, cases)))[0])


def chance(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def count_auc(values: list[float], positive: list[bool]) -> float:
    """By its definition, pair by pair."""
    ups = [value for value, up in zip(values, positive, strict=True) if up]
    downs = [value for value, up in zip(values, positive, strict=True) if not up]
    won = [1.0 if a > b else 0.5 if a == b else 0.0 for a in ups for b in downs]
    return sum(won) / len(won) if won else math.nan


def test_auc_by_hand() -> None:
    # Of the four pairs one is lost, two are won, one is even.
    assert once(auc_of([3, 1, 1, 2], [True, True, False, False]), 4) == pytest.approx((1 + 1 + 0.5 + 0) / 4)
    assert math.isnan(once(auc_of([1.0, 2.0], [True, True]), 2))


def test_auc_counts_a_case_as_often_as_it_was_drawn() -> None:
    drawn = auc_of([3.0, 1.0, 2.0], [True, True, False])(np.array([[2.0, 1.0, 5.0], [0.0, 3.0, 1.0], [1.0, 1.0, 0.0]]))
    assert drawn[:2].tolist() == pytest.approx([2 / 3, 0.0])
    assert math.isnan(drawn[2])


@given(LABELLED)
def test_auc_is_its_definition_and_symmetric(rows: list[tuple[float, bool]]) -> None:
    values, positive = [value for value, _ in rows], [up for _, up in rows]
    got = once(auc_of(values, positive), len(rows))
    expected = count_auc(values, positive)
    assert got == pytest.approx(expected, nan_ok=True)
    turned = once(auc_of([-value for value in values], positive), len(rows))
    swapped = once(auc_of(values, [not up for up in positive]), len(rows))
    assert [turned, swapped] == pytest.approx([1 - expected] * 2, nan_ok=True)


def test_macro_f1_by_hand() -> None:
    # a: precision 2/3, recall 1; b: precision 1, recall 1/2; c is never named: 0.
    labels, called = ["a", "a", "b", "b", "c"], ["a", "a", "b", "a", "b"]
    f1_a, f1_b = 2 * 2 / (2 + 3), 2 * 1 / (2 + 2)
    assert once(macro_f1_of(labels, called), 5) == pytest.approx((f1_a + f1_b + 0) / 3)


def test_ratio_and_mean_by_hand() -> None:
    assert once(ratio_of([2, 4, 1, 1, 4], [True, True, False, False, False]), 5) == pytest.approx(3 / 2)
    assert math.isnan(once(ratio_of([1.0, 0.0], [True, False]), 2))
    assert once(mean_of([1.5, 0.0], [2, 1]), 2) == 0.5


def test_calibration_by_hand() -> None:
    confidence, right = np.array([0.35, 0.31, 0.9, 1.0]), [True, False, True, True]
    bins = calibrate(confidence, right)
    assert [(one.low, one.cases, one.right) for one in bins] == [(0.3, 2, 0.5), (0.9, 2, 1.0)]
    assert [one.confidence for one in bins] == pytest.approx([0.33, 0.95])
    assert once(calibration_error_of(confidence, right), 4) == pytest.approx((2 * 0.17 + 2 * 0.05) / 4)


def test_sets_are_joined() -> None:
    one, two = count_confusion(["a"], ["b"], ["a", "b"]), count_confusion(["b", "a"], ["b", "b"], ["a", "b"])
    joined = join_confusions([one, None, two])
    assert joined is not None
    assert (joined.labels, joined.counts) == (("a", "b"), ((0, 2), (0, 1)))
    assert join_confusions([None]) is None
    halves = [calibrate(np.array([0.55]), [True]), calibrate(np.array([0.51, 0.53]), [False, False])]
    (whole,) = join_calibrations(halves)
    assert (whole.cases, whole.right) == (3, pytest.approx(1 / 3))
    assert whole.confidence == pytest.approx(0.53)


def test_the_mean_of_sets_counts_every_set_the_same() -> None:
    mean = average_sets([{"x": Finding(1.0, 0.4, 1.0, 1000)}, {"x": Finding(0.0, 0.0, 0.8, 1), "y": FINDING}])
    assert (mean["x"].value, mean["x"].cases, mean["y"]) == (0.5, 1001, FINDING)
    assert (mean["x"].low, mean["x"].high) == (pytest.approx(0.5 - 0.3), pytest.approx(0.5 + 0.4))


FINDING = Finding(0.25, 0.0, 0.5, 3)


@given(LABELLED, st.integers(0, 5))
def test_an_interval_holds_the_figure_and_follows_from_the_seed(rows: list[tuple[float, bool]], seed: int) -> None:
    statistic = auc_of([value for value, _ in rows], [up for _, up in rows])
    got = estimate(statistic, len(rows), chance(seed), draws=60)
    assert got == estimate(statistic, len(rows), chance(seed), draws=60)
    if got is not None:
        assert 0 <= got.low <= got.value <= got.high <= 1


def test_many_cases_are_drawn_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [float(n % 7) for n in range(40)]
    whole = estimate(mean_of(values), 40, chance(), draws=50)
    monkeypatch.setattr("weighbeam.lab.validity.measures.CELLS", 40 * 7)
    assert estimate(mean_of(values), 40, chance(), draws=50) == whole
    assert CELLS > 10**6


def test_an_interval_is_as_wide_as_the_cases_scatter() -> None:
    few = estimate(mean_of([0.0, 1.0] * 8), 16, chance())
    many = estimate(mean_of([0.0, 1.0] * 200), 400, chance())
    assert few is not None
    assert many is not None
    assert few.high - few.low == pytest.approx(2 * 1.96 * 0.5 / 4, rel=0.15)
    assert many.high - many.low == pytest.approx(2 * 1.96 * 0.5 / 20, rel=0.15)


def test_clusters_widen_an_interval() -> None:
    """Ten answers of one round that agree are one case, not ten."""
    alone = estimate(mean_of([0.0, 1.0] * 40), 80, chance())
    together = estimate(mean_of([0.0, 10.0] * 4, [10] * 8), 8, chance())
    assert alone is not None
    assert together is not None
    assert together.high - together.low > 2.5 * (alone.high - alone.low)


def test_a_share_without_scatter_still_has_a_width() -> None:
    found = Findings(chance())
    found.draw("all", mean_of([1.0, 1.0, 1.0]), 3)
    found.draw("ratio", mean_of([2.0, 2.0]), 2, is_share=False)
    found.share("none", [])
    assert set(found.found) == {"all", "ratio"}
    assert 0.3 < found.found["all"].low < 0.6
    assert (found.found["ratio"].low, found.found["ratio"].high) == (2.0, 2.0)


@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(-3, 3)), max_size=20))
def test_comparisons_add_up(pairs: list[tuple[float, float]]) -> None:
    for a, b in pairs:
        assert compare(a, b) + compare(b, a) == 1.0


def test_classes_by_hand() -> None:
    labels = ["no", "yes", "yes", "open"]
    probabilities = np.array([[0.95, 0.05, 0.0], [0.5, 0.2, 0.3], [0.05, 0.0, 0.95], [0.0, 1.0, 0.0]])
    got = measure_classes(Findings(chance()), labels, probabilities, CLASSES)
    values = {name: one.value for name, one in got.findings.items()}
    assert (values["accuracy"], values["majority"], values["sure"], values["accuracy_if_sure"]) == (0.75, 0.5, 0.75, 1)
    assert values["macro_f1"] == pytest.approx((2 / 3 + 2 / 3 + 1) / 3)
    assert values["calibration_error"] == pytest.approx((0.05 + 0.05 + 0 + 0.5) / 4)
    assert got.confusion is not None
    assert got.confusion.counts == ((1, 0, 0), (0, 1, 0), (1, 0, 1))


def test_a_class_that_the_set_lacks_is_no_choice() -> None:
    """FEVER-like sets have two classes: what a model gives to the third is shared out."""
    got = measure_classes(Findings(chance()), ["no", "yes"], np.array([[0.3, 0.6, 0.1], [0.0, 1.0, 0.0]]), CLASSES)
    assert got.findings["accuracy"].value == 0.5
    assert got.calibration[-1].confidence == pytest.approx(0.75)


@given(st.lists(st.tuples(st.sampled_from(CLASSES), st.lists(st.floats(0, 1), min_size=3, max_size=3)), min_size=1))
def test_shares_are_within_bounds(rows: list[tuple[str, list[float]]]) -> None:
    got = measure_classes(Findings(chance()), [label for label, _ in rows], np.array([p for _, p in rows]), CLASSES)
    for one in got.findings.values():
        assert 0 <= one.low <= one.value + 1e-9
        assert one.value <= one.high + 1e-9 <= 1 + 1e-6


def test_calls_by_hand() -> None:
    labels, called = ["yes", "yes", "no", "open", "yes"], ["yes", "no", "no", "yes", "open"]
    got = measure_calls(Findings(chance()), labels, called, CLASSES, ("yes", "no"))
    assert {name: one.value for name, one in got.findings.items()} == {
        "accuracy": 0.4, "majority": 0.6, "decided": 0.8, "accuracy_if_decided": 0.5, "reversed": 0.25
    }  # fmt: skip


def test_repeats_by_hand() -> None:
    got = measure_repeats(Findings(chance()), [True, True, False, False], [0.0, 0.5, 1.0, 0.05], [False] * 3 + [True])
    assert {name: one.value for name, one in got.findings.items()} == pytest.approx({
        "auc": 0.75, "repeats_paid": 0.5, "new_unpaid": 0.5, "new_refused": 0.5, "repeat_pay": 0.25, "new_pay": 0.525
    })  # fmt: skip
