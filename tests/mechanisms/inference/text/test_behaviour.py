"""Functions in answers, tried on what the prompt shows: right ones agree, however they are written; none can hang."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.inference.hostile import HOSTILE, run_in_time
from weighbeam.mechanisms.inference.text.behaviour import Trials, agree_on_results, plan_trials, try_function

PROMPT = '''Complete the function.

def second_largest(numbers):
    """The second largest of the distinct numbers.

    >>> second_largest([4, 1, 9, 9])
    4
    >>> second_largest([2, 3])
    2
    """
'''
SORTS = "def second_largest(numbers):\n    return sorted(set(numbers))[-2]"
REMOVES = "def second_largest(values):\n    rest = [v for v in values if v != max(values)]\n    return max(rest)"
FORGETS = "def second_largest(numbers):\n    return sorted(numbers)[-2]"


def plan(prompt: str) -> Trials:
    trials = plan_trials(prompt)
    assert trials is not None
    return trials


def test_the_prompts_own_calls_and_variations_of_them_are_tried() -> None:
    trials = plan(PROMPT)
    assert trials.name == "second_largest"
    assert trials.inputs[:2] == [[[4, 1, 9, 9]], [[2, 3]]]
    assert trials.shown == {0: "4", 1: "2"}
    assert len(trials.inputs) == 14
    assert plan(PROMPT) == trials


def test_right_functions_agree_and_a_wrong_one_less() -> None:
    trials = plan(PROMPT)
    sorts, removes, forgets = (try_function(trials, text) for text in (SORTS, f"Here:\n\n{REMOVES}\n\nDone.", FORGETS))
    assert sorts is not None
    assert forgets is not None
    same, different = agree_on_results(sorts, removes), agree_on_results(sorts, forgets)
    assert same is not None
    assert different is not None
    assert same > different
    assert sorts[0] == "4" != forgets[0]


def test_brackets_in_strings_close_nothing() -> None:
    trials = plan("def ok(text):\n>>> ok('(')\nFalse\n>>> ok(\")'(\")\nFalse\n>>> ok('()')\nTrue")
    assert trials.inputs[:3] == [["("], [")'("], ["()"]]
    assert trials.shown == {0: "false", 1: "false", 2: "true"}


@pytest.mark.parametrize(
    ("shown", "result"),
    [
        ("f(1) == 2", "2"),
        ("f(1) => 2", "2"),
        ("f(1) ➞ [1, 2]", "[1, 2]"),
        ("f(1) → 'a, b'", '"a, b"'),
        ("f(1) should return True.", "true"),
        (">>> f(1)\n(1, 2)\n", "[1, 2]"),
        ("f(1)  # 2.5", "2.5"),
        ("f(1) is None", "null"),
        ("f(1) == 2 and so on", "2"),
        ("f(1) gives a number", None),
        ("f(1)", None),
        ("f(1) == {1, 'a'}", None),
        ("f(1) == 1e999", None),
    ],
)
def test_results_are_read_as_people_write_them(shown: str, result: str | None) -> None:
    assert plan(f"def f(x):\n{shown}").shown.get(0) == result


@pytest.mark.parametrize(
    "prompt", ["", "def f(x):", "f(1) == 2", "def f(x):\nf(y) == 2", "def f(x):\nf(x=1) == 2", "def f(x):\nf(1"]
)
def test_without_a_plain_call_nothing_is_tried(prompt: str) -> None:
    assert plan_trials(prompt) is None


TRIALS = Trials("f", [[1], [2]], {})


@pytest.mark.parametrize(
    "body",
    [
        "break",
        "continue",
        "return f",
        "raise ValueError",
        "return [x] * 10**9",
        "return f(x)",
        "return {1, 'a'}",
        "while True: pass",
        "return 1 / 0",
        "return 9 ** 9 ** 9 ** 9",
        "return 1e308 * 10",
        "return x +",
    ],
)
def test_a_function_that_fails_says_so_and_agrees_with_none(body: str) -> None:
    found = run_in_time(try_function, TRIALS, f"def f(x):\n    {body}")
    assert set(found) == {"fault"}
    assert agree_on_results(found, found) == 0.0


@pytest.mark.parametrize("body", ["import os", "return x.__class__", "yield x", "return open('a')"])
def test_of_what_is_not_known_nothing_is_said(body: str) -> None:
    assert try_function(TRIALS, f"def f(x):\n    {body}") is None


PROMPTS = {
    "calls": "def f(x):\n" + "f(1) == 2\n" * 10_000,
    "calls that cannot be read": "def f(x):\n" + "f(y)\n" * 20_000,
    "brackets": "def f(x):\n" + "f(" * 60_000 + "(" * 30_000,
    "functions": "".join(f"def f{number}(x):\n" for number in range(10_000)),
    "functions and calls": "".join(f"def f{number}(x):\nf{number}(y)\n" for number in range(8000)),
    "one function": "def f(" * 30_000,
    "long results": "def f(x):\n" + ("f(1) " + "[" * 380 + "\n") * 400,
    "many words": "def f(x):\n" + ("f(1) " + "word " * 76 + "\n") * 400,
    "signs of equality": "def f(x):\n" + ("f(1) " + "=" * 390 + "\n") * 400,
    "blanks": "def f(x):\nf(1)" + " \n" * 90_000,
    "minus": "def f(x):\nf(" + "-" * 390 + "1)",
    "nested": "def f(x):\nf(" + "[" * 190 + "]" * 190 + ") == " + "[" * 190 + "]" * 190,
    "zero": "def f(x):\nf(\x00) == \x00",
}


@pytest.mark.parametrize("name", PROMPTS)
def test_no_prompt_takes_long(name: str) -> None:
    trials = run_in_time(plan_trials, PROMPTS[name])
    if trials is not None:
        assert len(trials.inputs) <= 20
        run_in_time(try_function, trials, f"def {trials.name}(x):\n    return x")


@pytest.mark.parametrize("name", HOSTILE)
def test_no_answer_takes_long(name: str) -> None:
    for text in (HOSTILE[name], f"def f(x):\n    return x\n{HOSTILE[name]}", f"```\ndef f(x):\n{HOSTILE[name]}"):
        run_in_time(try_function, TRIALS, text)


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.floats(-1e6, 1e6) | st.text("ab ", max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xy", max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(plain)
def test_a_function_that_gives_back_what_it_is_given_passes_its_example(value: Any) -> None:
    trials = plan(f"def same(x):\n    # same({value!r}) == {value!r}")
    results = try_function(trials, "def same(x):\n    return x")
    assert results is not None
    assert [results[0]] == list(trials.shown.values())
    assert agree_on_results(results, results) == 1.0
