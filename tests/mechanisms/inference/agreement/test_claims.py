"""The agreement of answers: 0 to a million, in any order of the texts, decided by the value where there is one."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.mechanisms.inference.agreement.claims import Claims, measure_agreement
from weighbeam.mechanisms.inference.text.behaviour import Trials
from weighbeam.mechanisms.inference.text.kinds import Kind

MILLION = 1_000_000
STEMS = "moon gravit bulge tides water earth sun pull".split()
TRIALS = Trials("f", [[1], [2], [3]], {0: "2"})


@st.composite
def claims(draw: st.DrawFn) -> Claims:
    count = draw(st.integers(0, 6))
    kind: Kind = draw(st.sampled_from(["open", "short", "number", "code"]))
    dice = np.random.default_rng(draw(st.integers(0, 10**6)))
    points = dice.normal(size=(count + 1, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    cosines = np.round(points @ points.T, 6)
    np.fill_diagonal(cosines, 1.0)
    trials = draw(st.sampled_from([TRIALS, None])) if kind == "code" else None
    result = st.one_of(st.none(), st.lists(st.sampled_from(["2", "3", "fault"]), min_size=3, max_size=3))
    support = np.round(dice.uniform(size=(count, count)), 6)
    contradiction = np.round(dice.uniform(size=(count, count)), 6)
    return Claims(
        kind=kind,
        heard=draw(st.lists(st.booleans(), min_size=count, max_size=count)),
        fresh=[draw(st.frozensets(st.sampled_from(STEMS))) for _ in range(count)],
        cosines=cosines[:count, :count],
        to_prompt=cosines[:count, count],
        support=support,
        values=[draw(st.sampled_from([None, "7", "8"])) for _ in range(count)] if kind == "number" else [],
        trials=trials,
        results=[draw(result) for _ in range(count)] if trials else [],
        contradiction=draw(st.sampled_from([None, (contradiction + contradiction.T) / 2])) if kind == "short" else None,
        denied=draw(st.sampled_from([None, np.round(dice.uniform(size=count), 6)])),
    )


def reorder(given: Claims, order: list[int]) -> Claims:
    square = np.ix_(order, order)
    return Claims(
        kind=given.kind,
        heard=[given.heard[i] for i in order],
        fresh=[given.fresh[i] for i in order],
        cosines=given.cosines[square],
        to_prompt=given.to_prompt[order],
        support=given.support[square],
        values=[given.values[i] for i in order] if given.values else [],
        trials=given.trials,
        results=[given.results[i] for i in order] if given.results else [],
        contradiction=None if given.contradiction is None else given.contradiction[square],
        denied=None if given.denied is None else given.denied[order],
    )


@given(claims())
def test_agreement_is_whole_millionths_and_everybody_agrees_with_themselves(given: Claims) -> None:
    found = measure_agreement(given)
    assert found.dtype == np.int32
    assert found.shape == (len(given.fresh),) * 2
    assert ((found >= 0) & (found <= MILLION)).all()
    assert (np.diagonal(found) == MILLION).all()


@given(claims(), st.randoms(use_true_random=False))
def test_the_order_of_texts_never_matters(given: Claims, dice: Any) -> None:
    order = list(range(len(given.fresh)))
    dice.shuffle(order)
    found = measure_agreement(given)[np.ix_(order, order)]
    assert np.abs(measure_agreement(reorder(given, order)) - found).max(initial=0) <= 1


def make(kind: Kind, fresh: list[str], **more: Any) -> Claims:
    count = len(fresh)
    alike = np.full((count, count), 0.6) + 0.4 * np.eye(count)
    usual: dict[str, Any] = {
        "cosines": alike,
        "to_prompt": np.full(count, 0.5),
        "support": alike,
        "values": [],
        "trials": None,
        "results": [],
        "contradiction": None,
    }
    said = [frozenset(one.split()) for one in fresh]
    return Claims(kind=kind, heard=[True] * len(said), fresh=said, **{**usual, **more})


def test_the_same_number_outweighs_the_same_words() -> None:
    found = measure_agreement(make("number", ["moon sun", "water", "moon sun"], values=["7", "7", "8"]))
    assert found[0, 1] > found[0, 2]


def test_no_number_agrees_with_no_number_no_more_than_with_another() -> None:
    found = measure_agreement(make("number", ["moon", "moon", "moon"], values=[None, None, "8"]))
    assert found[0, 1] == found[0, 2]


def test_a_word_that_most_say_counts_more_than_one_of_few() -> None:
    mean = measure_agreement(make("short", ["rugby", "rugby", "rugby union", "cricke"])).mean(axis=1)
    assert mean[3] < min(mean[:3])


def test_who_contradicts_agrees_less() -> None:
    contradiction = np.zeros((3, 3))
    contradiction[2, :2] = contradiction[:2, 2] = 1.0
    found = measure_agreement(make("short", ["moon"] * 3, contradiction=contradiction))
    assert found[0, 2] < found[0, 1]


def test_a_denied_answer_is_supported_less_and_supports_as_before() -> None:
    plain = measure_agreement(make("open", ["moon sun"] * 3))
    found = measure_agreement(make("open", ["moon sun"] * 3, denied=np.array([0.0, 0.0, 0.4])))
    assert found[2, :2].tolist() == [round(0.6 * value) for value in plain[2, :2].tolist()]
    assert (found[:2] == plain[:2]).all()


@pytest.mark.parametrize(
    "fresh", [["moon sun earth", "moon sun earth", "moon"], ["moon sun earth", "moon sun earth", ""]]
)
def test_an_open_answer_with_little_new_is_supported_less(fresh: list[str]) -> None:
    mean = measure_agreement(make("open", fresh)).mean(axis=1)
    assert mean[2] < min(mean[:2])


def test_a_function_that_fails_the_example_is_supported_less() -> None:
    results = [["2", "3", "3"], ["2", "3", "3"], ["3", "3", "3"]]
    mean = measure_agreement(make("code", ["moon"] * 3, trials=TRIALS, results=results)).mean(axis=1)
    assert mean[2] < min(mean[:2])
