"""The order of words: what people write lies far above chance, the same words shuffled lie around it."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.inference.hostile import HOSTILE, run_in_time
from weighbeam.core.word_order import WordOrder, read_order

WRITTEN = (
    "The old ferry crosses the river every morning, and it carries farmers to the market in the town. The captain "
    "knows all of them by name, because he has worked on this river for thirty years. When the water is too high in "
    "the spring, nobody can cross it for a week, and the farmers have to drive around the valley to the bridge."
)


def shuffle(text: str, seed: int) -> str:
    words = text.split()
    random.Random(seed).shuffle(words)
    return " ".join(words)


def test_sentences_lie_above_chance() -> None:
    assert read_order(WRITTEN).z > 4


@pytest.mark.parametrize("seed", range(8))
def test_shuffled_words_lie_around_chance(seed: int) -> None:
    assert abs(read_order(shuffle(WRITTEN, seed)).z) < 3


def test_shuffled_words_are_around_chance_on_average() -> None:
    drawn = [read_order(shuffle(WRITTEN, seed)).z for seed in range(100)]
    assert abs(sum(drawn) / len(drawn)) < 0.5


def test_length_is_no_order() -> None:
    shuffled = shuffle(WRITTEN, 1)
    assert abs(read_order(" ".join([shuffled] * 5)).z) < 4


@pytest.mark.parametrize("text", ["", "…", "Rugby.", "Rugby union", "🌉"])
def test_nothing_to_compare_has_no_order(text: str) -> None:
    assert read_order(text) == WordOrder(0, 0.0, 0.0)


@given(st.text(max_size=300))
def test_every_number_is_finite_and_rounded(text: str) -> None:
    order = read_order(text)
    assert order.pairs >= 0
    for number in (order.z, order.fit):
        assert math.isfinite(number)
        assert round(number, 6) == number


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_takes_long(name: str) -> None:
    assert math.isfinite(run_in_time(read_order, HOSTILE[name]).z)
