"""Promises of a whole round, whatever is given: order, copies, garbage, bounds."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.mechanisms.inference.stages import STAGES

SCORE = STAGES["inference.score"]


@st.composite
def rounds(draw: st.DrawFn, least: int = 3, limit: int = 9) -> dict[str, Any]:
    count = draw(st.integers(least, limit))
    dice = np.random.default_rng(draw(st.integers(0, 10**6)))
    points = dice.normal(size=(count, 6)) + draw(st.sampled_from([0.0, 0.7, 2.0]))
    if draw(st.booleans()):
        points[count // 2 :] = points[0] + 0.01 * dice.normal(size=points[count // 2 :].shape)
    points /= np.linalg.norm(points, axis=1)[:, None]
    upper = np.triu(np.round(points @ points.T, draw(st.sampled_from([1, 6]))), 1)
    similarity = upper + upper.T + np.eye(count)
    close = similarity >= 0.97
    number = st.one_of(st.none(), st.floats(-5, 200), st.integers(0, 3))
    answers = [
        {
            "hotkey": f"hk{i}",
            "quality": draw(st.sampled_from([0.0, 0.2, 0.35, 0.5, 0.55, 0.9, 1.0])),
            "words": draw(st.integers(0, 120)),
            "seconds": draw(number),
            "confidence": draw(st.one_of(number, st.just("sure"))),
            "polarity": draw(st.sampled_from(["yes", "no", None])),
            "entity": draw(st.sampled_from([None, None, "e", "f"])),
        }
        for i in range(count)
    ]
    params = {
        "lambda_factor": draw(st.sampled_from([1.0, 0.0, -2.0])),
        "clustering": draw(st.booleans()),
        "polarity_clustering": draw(st.booleans()),
    }
    return {
        "answers": answers,
        "similarity": similarity.tolist(),
        "overlap": np.where(close, 1.0, 0.0).tolist(),
        "params": params,
    }


def shuffle(given: dict[str, Any], order: list[int]) -> dict[str, Any]:
    square = {name: np.array(given[name])[np.ix_(order, order)].tolist() for name in ("similarity", "overlap")}
    return {**given, **square, "answers": [given["answers"][i] for i in order]}


@given(rounds(), st.randoms(use_true_random=False))
def test_order_never_matters(round: dict[str, Any], dice: Any) -> None:
    order = list(range(len(round["answers"])))
    dice.shuffle(order)
    assert SCORE(shuffle(round, order)) == SCORE(round)


@given(rounds())
def test_bounds_and_sums(round: dict[str, Any]) -> None:
    result = SCORE(round)
    assert 0 <= result["pool"] <= 1
    assert 1 <= result["bonus"] <= 1.5
    for hotkey, score in result["scores"].items():
        assert 0 <= score <= 100
        assert 0 <= result["emissions"][hotkey] <= 1.5 * 1.2 * 1.5
    for hotkey, parts in result["parts"].items():
        assert math.isclose(sum(parts.values()), result["scores"][hotkey], abs_tol=1e-9)
        assert not (parts["consensus"] and parts["diversity"])
    assert sorted(result["in_consensus"] + result["out_of_consensus"]) == sorted(result["quality"])
    assert not set(result["in_consensus"]) & set(result["removed"])
    assert not result["achieved"] or result["in_consensus"]


@given(rounds())
def test_the_flagged_earn_nothing_and_move_nobody(round: dict[str, Any]) -> None:
    result = SCORE(round)
    for hotkey in result["flagged"]:
        assert result["scores"][hotkey] == result["emissions"][hotkey] == 0
    good = [i for i, row in enumerate(round["answers"]) if row["hotkey"] not in result["flagged"]]
    if len(good) >= 3:
        without = SCORE(shuffle(round, good))
        assert without["parts"] == result["parts"]
        assert all(paid == result["emissions"][hotkey] for hotkey, paid in without["emissions"].items())


@given(rounds())
def test_copies_together_earn_no_more_than_the_best_of_them_alone(round: dict[str, Any]) -> None:
    for row in round["answers"]:
        row.update(words=max(row["words"], 12), entity=None)
    result = SCORE(round)
    for group in result["groups"]:
        if len(group) == len(result["parts"]):
            continue
        unshared = [
            result["pool"]
            * result["speed"][hotkey]
            * (result["scores"][hotkey] / 100)
            * (1.2 if result["achieved"] and hotkey in result["in_consensus"] else 1)
            * result["bonus"]
            for hotkey in group
        ]
        assert sum(result["emissions"][hotkey] for hotkey in group) <= max(unshared) + 1e-9


def test_a_copied_answer_splits_what_the_single_one_earned() -> None:
    rows = [{"hotkey": key, "quality": 0.6, "words": 60, "seconds": 2.0} for key in "abcde"]
    cosines = np.full((5, 5), 0.75)
    np.fill_diagonal(cosines, 1)
    alone = SCORE({"answers": rows[:4], "similarity": cosines[:4, :4].tolist()})["emissions"]
    cosines[3, 4] = cosines[4, 3] = 0.99
    overlap = np.eye(5)
    overlap[3, 4] = overlap[4, 3] = 1
    copied = SCORE({"answers": rows, "similarity": cosines.tolist(), "overlap": overlap.tolist()})
    assert copied["groups"] == [["d", "e"]]
    assert copied["emissions"]["d"] + copied["emissions"]["e"] == pytest.approx(alone["d"])
    assert copied["emissions"]["a"] == pytest.approx(alone["a"])


@given(rounds(1, 2))
def test_too_few_is_void(round: dict[str, Any]) -> None:
    result = SCORE({**round, "answers": [*round["answers"], {"hotkey": "x", "status": "timeout"}]})
    assert result["void"]
    assert set(result["scores"].values()) == set(result["emissions"].values()) == {None}
    assert result["parts"] == result["removed"] == {}
    assert result["low_confidence"]
    assert result["best"] is None
    assert "void_round" in [alert["code"] for alert in result["alerts"]]


def test_missing_times_and_ties_of_the_best() -> None:
    rows = [
        {"hotkey": key, "quality": 0.6, "words": 60, "seconds": s} for key, s in (("a", None), ("b", 3.0), ("c", 2.0))
    ]
    result = SCORE({"answers": rows, "similarity": np.full((3, 3), 0.8).tolist()})
    assert result["best"] == "c"
    assert result["speed"]["a"] == pytest.approx(1.0)
