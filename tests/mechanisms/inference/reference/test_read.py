"""What is read from answers of each kind, and what counts as right."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.inference.reference.kinds import MAX_BYTES, parse_reference
from weighbeam.mechanisms.inference.reference.read import read_answer
from weighbeam.mechanisms.inference.reference.truth import describe_reading, judge_reading


def judge(given: dict[str, Any], text: str) -> float | None:
    reference = parse_reference(given)
    reading = read_answer(reference, text)
    assert describe_reading(reference, reading)
    return judge_reading(reference, reading)


FORTY_TWO = {"kind": "value", "answer": 42}
RIGHT_VALUES = [
    "42",
    "42.0",
    "The answer is 42.",
    "the answer is forty-two",
    "So 6 × 7 = 42.",
    "The answer is 6 × 7 = 42 loaves.",
    "Some 40 at first.\n#### 42",
    r"Thus \boxed{42}.",
    r"\boxed{ 42 \text{ trees} }",
    "**42** trees in 3 rows",
    "Answer: $42.00",
    "It is 42, not 41.",
    "The answer is not 41 but 42.",
    "My final answer to this question is: 42 km/h",
    "84/2",
    "4.2e1 is the same as 42",
    "Forty-two.",
    "42 hours or 2520 minutes: the answer is 42 hours or 2520 minutes.",
]
WRONG_VALUES = [
    "41",
    "-42",
    "minus 42",
    "4,200",
    "The answer is either 41 or 42.",
    "It is 42 or 43.",
    "42 or maybe 41",
    "The answer is not 42.",
    "There are not 42 of them.",
    "40, 41, 42, 43",
    "42, 43 and 44",
    "Answer: 40, 41, 42, 43, 44",
    "more than 42",
    "no idea",
    "",
    "42/5",
]


@pytest.mark.parametrize("text", RIGHT_VALUES)
def test_right_value(text: str) -> None:
    assert judge(FORTY_TWO, text) == 1.0


@pytest.mark.parametrize("text", WRONG_VALUES)
def test_wrong_value(text: str) -> None:
    assert judge(FORTY_TWO, text) == 0.0


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (1250000, "1,250,000"),
        (1250000, "1 250 000 euros"),
        (1250000, "1'250'000"),
        (1250000, "one million two hundred and fifty thousand"),
        (1.5, "1 1/2 cups"),
        (1.5, "1½ cups"),
        (0.75, r"\frac{3}{4}"),
        (0.25, "25 %"),
        (25, "25 per cent"),
        (3.5, "3,5 kilometres"),
        (-4, "minus 4 degrees"),
        (-4, "−4 °C"),
        (105, "one hundred and five"),
        (7, "seven"),
    ],
)
def test_numbers_as_people_write_them(answer: float, text: str) -> None:
    assert judge({"kind": "value", "answer": answer}, text) == 1.0


def test_a_tolerance_is_exact() -> None:
    about = {"kind": "value", "answer": 0.3, "tolerance": 0.1}
    assert [judge(about, text) for text in ("0.2", "0.4", "0.41", "0.19")] == [1.0, 1.0, 0.0, 0.0]


NAMES = {"kind": "choice", "options": ["Marta", "Jonas", "Lena"], "answer": "B"}


@pytest.mark.parametrize(
    "text",
    [
        "B",
        "(B)",
        "B) Jonas",
        "Jonas",
        "The answer is B.",
        "Option B, because A is too slow.",
        "Marta took 3, Jonas 2 and Lena 5. So Jonas wins.",
        "It was Jonas, not Marta.",
        "The correct option: **B**",
        "Jonas is faster than Marta.",
        "I would pick Jonas rather than Lena.",
    ],
)
def test_right_choice(text: str) -> None:
    assert judge(NAMES, text) == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "A",
        "Lena",
        "either A or B",
        "The answer is A or B.",
        "A) Jonas",
        "Marta, Jonas or Lena",
        "A, B and C",
        "The answer is not B.",
        "Jonas did not win.",
        "D",
        "",
        "B or not B: Marta.",
    ],
)
def test_wrong_choice(text: str) -> None:
    assert judge(NAMES, text) == 0.0


CALLER = {"kind": "span", "answer": ["Ada", "Ada Moor"], "others": ["Bo", "Cy", "the mayor"]}


@pytest.mark.parametrize(
    "text", ["Ada", "It was Ada Moor.", "Not Bo, but Ada.", "Bo slept and Cy ran; the answer is Ada."]
)
def test_right_span(text: str) -> None:
    assert judge(CALLER, text) == 1.0


@pytest.mark.parametrize(
    "text", ["Bo", "Ada, Bo, Cy and the mayor", "Ada or Bo", "Ada did not call.", "", "It was the mayor.", "Adam"]
)
def test_wrong_span(text: str) -> None:
    assert judge(CALLER, text) == 0.0


MAMMALS = {"kind": "set", "answer": ["otter", "fox"], "others": ["heron", "pike", "newt"]}


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("otter and fox", 1.0),
        ("Heron and pike are not. The answer is: fox, otter.", 1.0),
        ("The otter.", 0.5),
        ("otter, fox and heron", 0.5),
        ("otter, fox, heron, pike, newt", 0.0),
        ("heron", 0.0),
        ("", 0.0),
    ],
)
def test_set(text: str, truth: float) -> None:
    assert judge(MAMMALS, text) == truth


TWICE = {"kind": "function", "name": "twice", "cases": [[[2], 4], [[-3], -6]]}


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("```python\ndef twice(x):\n    return 2 * x\n```", 1.0),
        ("Sure.\n\ndef twice(x):\n    return x + x\nThis doubles it.", 1.0),
        ("def twice(x): return x * x", 0.0),
        ("```\ndef other(x):\n    return 2 * x\n```", 0.0),
        ("def twice(x):\n    while True: pass", 0.0),
        ("def twice(x):\n    return 'a' * 10 ** 9", 0.0),
        ("def twice(x:", 0.0),
        ("Multiply it by two.", 0.0),
        ("```python\nimport numpy\ndef twice(x):\n    return 2 * x\n```", None),
        ("def twice(x):\n    return (x).__mul__(2)", None),
        ("def twice(x):\n    return float(2 * x)", 1.0),
        ("def twice(x):\n    return x > 0", 0.0),
    ],
)
def test_function(text: str, truth: float | None) -> None:
    assert judge(TWICE, text) == truth


@pytest.mark.parametrize(
    ("claims", "truth"),
    [
        ([[0, 900_000], [100_000, 600_000]], 1.0),
        ([[900_000, 10_000]], 0.0),
        ([[900_000, 10_000], [0, 800_000]], 0.5),
        ([[400_000, 300_000]], None),
        ([[850_000, 700_000]], 1.0),
    ],
)
def test_claims(claims: list[list[int]], truth: float | None) -> None:
    reference = parse_reference({"kind": "text", "claims": ["It rained."] * len(claims)})
    assert judge_reading(reference, {"claims": claims}) == truth


BAD = [
    None,
    [],
    {},
    {"kind": "riddle"},
    {"kind": ["value"]},
    {"kind": "value"},
    {"kind": "value", "answer": "42"},
    {"kind": "value", "answer": float("nan")},
    {"kind": "value", "answer": True},
    {"kind": "value", "answer": 1, "tolerance": -1},
    {"kind": "value", "answer": 1, "unit": "m"},
    {"kind": "choice", "options": ["a"], "answer": "a"},
    {"kind": "choice", "options": ["one", "two"], "answer": "three"},
    {"kind": "choice", "options": ["one", "One"], "answer": "one"},
    {"kind": "choice", "options": [f"o{n}" for n in range(9)], "answer": "o1"},
    {"kind": "span", "answer": "Ada", "others": ["Bo"]},
    {"kind": "span", "answer": "", "others": ["Bo", "Cy"]},
    {"kind": "span", "answer": "?!", "others": ["Bo", "Cy"]},
    {"kind": "span", "answer": "Ada", "others": ["Bo", "ada"]},
    {"kind": "set", "answer": ["a", "b"], "others": ["c"]},
    {"kind": "set", "answer": [], "others": ["c"]},
    {"kind": "function", "name": "f"},
    {"kind": "function", "name": "import os", "cases": [[[1], 1], [[2], 2]]},
    {"kind": "function", "name": "f", "cases": [[[1], 1]]},
    {"kind": "function", "name": "f", "cases": [[1, 1], [2, 2]]},
    {"kind": "text", "claims": []},
    {"kind": "text", "claims": ["x" * 301]},
    {"kind": "span", "answer": "\ud800a", "others": ["Bo", "Cy"]},
    {"kind": "value", "answer": 10**MAX_BYTES},
]


@pytest.mark.parametrize("given", BAD, ids=range(len(BAD)))
def test_a_bad_reference_is_refused_with_a_remedy(given: Any) -> None:
    with pytest.raises(WeighbeamError) as caught:
        parse_reference(given)
    assert caught.value.code == "bad_reference"
    assert caught.value.remedy


GOOD = [FORTY_TWO, NAMES, CALLER, MAMMALS, TWICE]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(GOOD), st.text(max_size=400))
def test_any_text_can_be_read(given: dict[str, Any], text: str) -> None:
    truth = judge(given, text)
    assert truth is None or 0 <= truth <= 1


@pytest.mark.parametrize(
    "unit", ["1", "1 ", "one ", "one-", "(", "**1", "A or ", "answer ", "Ada not ", "1/", ",1", "def twice(", "so "]
)
@pytest.mark.parametrize("given", GOOD, ids=lambda one: one["kind"])
def test_long_texts_are_read_in_no_time(given: dict[str, Any], unit: str) -> None:
    import time

    began = time.perf_counter()
    judge(given, unit * (60_000 // len(unit)))
    assert time.perf_counter() - began < 4
