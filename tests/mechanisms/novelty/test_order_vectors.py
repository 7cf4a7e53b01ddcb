"""The novelty vector files: through the stages, and `order` through an oracle that shares no code with them."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.novelty.naive_order import order
from mechanisms.novelty.naive_value import value
from tests_root import ROOT
from weighbeam.engine.vectors import call_stage, first_difference
from weighbeam.mechanisms.novelty.mechanism import Novelty

STAGES = Novelty().stages()
FILES = [json.loads(path.read_text()) for path in sorted((ROOT / "vectors").glob("novelty.*.json"))]
CASES = [
    pytest.param(file["stage"], case, file["tolerance"], id=f"{file['stage']}: {case['name']}")
    for file in FILES
    for case in file["cases"]
]
ORDERED = next(file["cases"] for file in FILES if file["stage"] == "novelty.order")
VALUED = next(file["cases"] for file in FILES if file["stage"] == "novelty.value")
COSINE_ALONE = {"scale": "identity", "second_look": False, "parts": False, "kin_similarity": 2.0}
SAID = [
    "Sea otters hold hands.",
    "SEA  otters\nhold hands.",
    "Ｓea otters hold\u200b hands.",
    "A bridge is long in summer.",
    "Bread dough rests overnight.",
    "two words",
    "A bell \x07 rings here.",
]


@pytest.mark.parametrize(("stage", "case", "tolerance"), CASES)
def test_vector(stage: str, case: dict[str, Any], tolerance: float) -> None:
    assert first_difference(case["expect"], call_stage(STAGES[stage], case["input"]), tolerance) is None


def test_every_stage_has_a_file() -> None:
    assert {file["stage"] for file in FILES} == set(STAGES)


def test_expectations_are_the_oracles() -> None:
    right = [case for case in ORDERED if "error" not in case["expect"]]
    assert len(right) >= 40
    assert [case["name"] for case in right if order(case["input"]) != case["expect"]] == []


def test_values_are_the_oracles() -> None:
    right = [case for case in VALUED if "error" not in case["expect"]]
    assert len(right) >= 40
    assert [case["name"] for case in right if value(case["input"]) != case["expect"]] == []


@st.composite
def rounds(draw: st.DrawFn) -> dict[str, Any]:
    vector = st.lists(st.integers(-20, 20), min_size=3, max_size=3)
    one = st.fixed_dictionaries(
        {
            "contributor": st.sampled_from(["ada", "bob"]),
            "text": st.sampled_from(SAID) | st.integers(0, 99).map(lambda n: f"This is text number {n}."),
            "vectors": st.lists(vector, min_size=1, max_size=3),
            "plausible": st.booleans(),
        }
    )
    rows = [{"id": str(place), **row} for place, row in enumerate(draw(st.lists(one, max_size=8)))]
    params = st.fixed_dictionaries(
        {},
        optional={
            "gate": st.sampled_from(["hold", "deny", "off"]),
            "reference_similarity": st.sampled_from([0.5, 0.9, 0.95, 1.0]),
            "reward_factor": st.sampled_from([1, 2, 10, 2.5]),
            "similarity_step": st.sampled_from([0.05, 0.03, 1]),
            "base_units": st.sampled_from([1, 1000, 10**9]),
        },
    )
    return {"contributions": rows, "params": {**COSINE_ALONE, **draw(params)}}


@settings(max_examples=80)
@given(rounds())
def test_stage_and_oracle_agree(given: dict[str, Any]) -> None:
    assert STAGES["novelty.order"](given) == order(given)


@settings(max_examples=25)
@given(rounds())
def test_the_books_balance_and_only_who_came_first_matters(given: dict[str, Any]) -> None:
    found = STAGES["novelty.order"](given)
    assert found["treasury"] + sum(found["balances"].values()) + sum(found["held"].values()) == 0
    for place in range(len(given["contributions"])):
        early = {**given, "contributions": given["contributions"][: place + 1]}
        assert STAGES["novelty.order"](early)["results"] == found["results"][: place + 1]


@settings(max_examples=40)
@given(st.permutations(range(6)))
def test_strangers_are_paid_the_same_in_any_order(places: list[int]) -> None:
    rows = [
        {
            "id": str(place),
            "contributor": f"c{place}",
            "text": f"This is text number {place}.",
            "vectors": [[float(place == axis) for axis in range(6)]],
        }
        for place in places
    ]
    found = STAGES["novelty.order"]({"contributions": rows, "params": COSINE_ALONE})
    assert set(found["balances"].values()) == {100_000_000_000}
