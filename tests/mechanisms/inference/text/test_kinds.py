"""What kind of answer a prompt asks for: told by prompt and answers together, in any order, in bounded time."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.inference.hostile import HOSTILE, run_in_time
from weighbeam.mechanisms.inference.text.kinds import Kind, count_size, find_kind, has_code
from weighbeam.mechanisms.inference.text.languages import find_language

ADDS = "def add(a, b):\n    return a + b"
PROSE = "Bread rises because yeast feeds on sugar and gives off a gas, which the dough holds in small bubbles. " * 2

ROUNDS: list[tuple[str, list[str], str]] = [
    ("Why does bread rise?", [PROSE] * 3, "open"),
    ("Which sport is it?", ["Rugby.", "It is rugby union.", "Rugby"], "short"),
    ("A tray holds 8 rolls. How many rolls are on 12 trays?", ["96", "It is 96.", "12 × 8 = 96"], "number"),
    ("What is 17 plus 25?", ["17 + 25 = 42", "42, as 17 + 25 is 42.", "42"], "number"),
    ("Write a function that adds two numbers.", [ADDS, f"```python\n{ADDS}\n```", "Use a plus sign."], "code"),
    ("How many moons has Mars?", ["Two.", "Mars has two moons.", "Phobos and Deimos."], "short"),
    ("为什么会有潮汐？", ["因为月球的引力。"] * 3, "short"),
    ("Why?", [], "open"),
]


@pytest.mark.parametrize(("prompt", "answers", "kind"), ROUNDS)
def test_the_kind_of_a_round(prompt: str, answers: list[str], kind: str) -> None:
    assert find_kind(prompt, answers) == kind


def test_one_answer_in_code_makes_no_round_of_code() -> None:
    assert find_kind("Why does bread rise?", [PROSE, PROSE, PROSE, ADDS]) == "open"


def test_one_long_answer_makes_no_open_question_of_a_short_one() -> None:
    assert find_kind("Which sport is it?", ["Rugby.", "Rugby union.", "It is rugby.", PROSE]) == "short"


@pytest.mark.parametrize(
    "text",
    [
        ADDS,
        "Like this:\n\n    def add(a, b) -> int:\n        return a + b",
        "def f(x: tuple[int, ...] = (1, 2)) -> dict[str, int]:  \n    ...",
        "```\nls\n```",
        "int main() {\n  return 0;\n}",
    ],
)
def test_code_is_seen(text: str) -> None:
    assert has_code(text)


@pytest.mark.parametrize("text", ["", "It is defined (see above):", "The function returns x; the rest is easy."])
def test_prose_is_no_code(text: str) -> None:
    assert not has_code(text)


texts = st.one_of(st.text(max_size=200), st.sampled_from([ADDS, PROSE, "42", "Rugby.", *HOSTILE.values()]))


@given(st.text(max_size=200), st.lists(texts, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_answers_never_matters(prompt: str, answers: list[str], dice: Any) -> None:
    kind = find_kind(prompt, answers)
    assert kind in get_args(Kind)
    dice.shuffle(answers)
    assert find_kind(prompt, answers) == kind


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_takes_long(name: str) -> None:
    text = HOSTILE[name]
    assert run_in_time(count_size, text) >= 0
    run_in_time(find_language, text)
    run_in_time(find_kind, f"{text} how many of 3?", [text] * 3)
