"""What is counted in an answer: whole numbers, in any order of answers, in bounded time."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.inference.hostile import HOSTILE, run_in_time
from weighbeam.mechanisms.inference.text.counts import ParsedText
from weighbeam.mechanisms.inference.text.kinds import Kind
from weighbeam.mechanisms.inference.text.traits import (
    PromptTraits,
    TextTraits,
    cut_code,
    find_fresh,
    find_traits,
    is_listed,
    read_prompt,
)

PROMPT = ParsedText("Why does the sea rise and fall twice a day?")
SAID = [
    "The Moon pulls on the water of the oceans, most strongly on the near side.",
    "Gravity of the Moon and the Sun lifts the sea, and the turning Earth carries us through.",
    "Rugby.",
    "因为月球的引力使海水每天涨落两次，太阳也有影响。",
    "Der Mond zieht das Wasser der Meere an, und darum steigt es zweimal am Tag.",
    "def tide(hour):\n    return moon(hour) + sun(hour)",
    PROMPT.raw,
]
answers = st.lists(st.one_of(st.sampled_from(SAID), st.text(max_size=80)), max_size=7, unique=True)


def read(texts: list[str], kind: Kind = "open", prompt: PromptTraits | None = None) -> list[TextTraits]:
    asked = prompt or read_prompt(PROMPT)
    parsed = [ParsedText(text) for text in texts]
    fresh = find_fresh(parsed, asked, kind)
    return [find_traits(text, asked, kind, True, place, fresh) for place, text in enumerate(parsed)]


@settings(max_examples=30)
@given(answers, st.randoms(use_true_random=False))
def test_the_order_of_answers_never_matters(texts: list[str], dice: Any) -> None:
    found = dict(zip(texts, read(texts), strict=True))
    dice.shuffle(texts)
    assert dict(zip(texts, read(texts), strict=True)) == found


@settings(max_examples=30)
@given(answers, st.sampled_from(["code", "number", "short", "open"]))
def test_every_trait_is_a_whole_number_a_flag_or_a_language(texts: list[str], kind: Kind) -> None:
    for traits in read(texts, kind):
        for name, value in traits.as_json().items():
            assert type(value) in ((str, type(None)) if name == "language" else (int, bool)), name
        assert TextTraits.from_json(traits.as_json()) == traits
        assert 0 <= traits.own <= traits.fresh <= traits.stems
        assert traits.gathered <= min(traits.fresh, traits.others)
        assert traits.met <= len(texts) - 1
        assert traits.distinct_triples <= max(0, traits.triples)
        assert traits.distinct_glue <= traits.glue


@settings(max_examples=30)
@given(answers)
def test_what_the_others_say_is_what_stands_in_one_of_them(texts: list[str]) -> None:
    fresh = find_fresh([ParsedText(text) for text in texts], read_prompt(PROMPT), "open").each
    for place, traits in enumerate(read(texts)):
        others = frozenset[str]().union(*(one for number, one in enumerate(fresh) if number != place))
        assert (traits.others, traits.gathered) == (len(others), len(fresh[place] & others))


def test_one_answer_alone_has_no_others() -> None:
    (alone,) = read([SAID[0]])
    assert (alone.met, alone.others, alone.gathered) == (0, 0, 0)
    assert read([]) == []


def test_words_of_the_prompt_are_not_new() -> None:
    echo, moon = read([PROMPT.raw, "The sea: the Moon, the Moon."])
    assert (echo.echo, echo.fresh, echo.covered) == (True, 0, len(PROMPT.triples))
    assert (moon.echo, moon.fresh, moon.covered) == (False, 1, 0)


def test_only_english_must_keep_the_order_of_english() -> None:
    english, _, word, chinese, german, *_ = read(SAID)
    assert [one.ordered for one in (english, word, chinese, german)] == [True, True, False, False]
    assert [one.language for one in (english, word, chinese, german)] == ["en", None, "zh", "de"]


def test_code_is_cut_and_prose_around_it_kept() -> None:
    text = "It adds one:\n\n```python\ndef add(x):\n    return x + 1\n```\nCall it with a number."
    assert "def add" not in cut_code(text)
    assert "Call it with a number." in cut_code(text)


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("- Map\n- Compass\n- Water bottle", True),
        ("First snow, slow snow,\nfeather over stone,\nhush the road below,\nlead the children home.", True),
        ("| Copper | 8.96 | 1085 | 59.6 | red |\n| Steel | 7.85 | 1425 | 6.9 | grey |", True),
        ("The ferry crosses the river every morning and carries the farmers to the market.", False),
        ("", True),
    ],
)
def test_lists_are_seen(text: str, listed: bool) -> None:
    assert is_listed(text) is listed


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", ["open", "code"])
def test_no_answer_takes_long(name: str, kind: Kind) -> None:
    run_in_time(read, [HOSTILE[name], SAID[0]], kind)


def test_a_long_prompt_takes_not_long() -> None:
    asked = run_in_time(read_prompt, ParsedText(" ".join(f"w{number % 7000}" for number in range(20_000))))
    run_in_time(read, SAID, "open", asked)


def test_a_hundred_answers_take_not_long() -> None:
    dice = random.Random(1)
    texts = [" ".join(f"{chr(97 + dice.randrange(26))}{dice.randrange(5000)}" for _ in range(300)) for _ in range(100)]
    run_in_time(read, texts)
