"""Long premises are read in windows of whole sentences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.senses.adapters.entailment.nli_minilm import load_nli
from weighbeam.senses.adapters.entailment.windows import MAX_WINDOWS, cut_windows, join_windows

FILLER = "The museum shop sells postcards, and the garden behind it is open until the evening. "
FACT = "The tower was finished in the spring of 1907 after nine years of work. "
CLAIM = "The tower was finished in 1907."


def count_words(texts: list[str]) -> list[int]:
    return [len(text.split()) for text in texts]


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=9), max_size=40), st.integers(3, 12))
def test_windows_hold_every_sentence_in_order_and_fit(sentences: list[list[str]], room: int) -> None:
    numbered = [" ".join(f"{word}{n}.{m}" for m, word in enumerate(words)) for n, words in enumerate(sentences)]
    windows = cut_windows(numbered, room, count_words)
    assert len(windows) <= MAX_WINDOWS
    assert all(count <= room for count in count_words(windows))
    if len(windows) < MAX_WINDOWS:
        seen = dict.fromkeys(word for window in windows for word in window.split())
        assert list(seen) == " ".join(numbered).split()


@given(st.lists(st.lists(st.floats(-9, 9, width=32), min_size=3, max_size=3), min_size=1, max_size=6))
def test_a_window_more_never_hides_what_another_says(rows: list[list[float]]) -> None:
    logits = np.array(rows, dtype=np.float32)
    against, open_, for_ = join_windows(logits)
    assert open_ == 0
    assert (against, for_) == ((logits[:, 0] - logits[:, 1]).max(), (logits[:, 2] - logits[:, 1]).max())


def test_what_stands_far_behind_is_read() -> None:
    without = FILLER * 30
    nothing, far = load_nli().judge([(without, CLAIM), (without + FACT + FILLER * 5, CLAIM)])
    assert far[2] > 2 * nothing[2]
    assert far[2] > far[0]


@pytest.mark.parametrize("premise", ["word " * 4_000, "x" * 20_000, "。" * 900, FILLER * 200])
def test_a_premise_of_any_form_is_judged_alone_as_with_others(premise: str) -> None:
    model = load_nli()
    alone = model.judge([(premise, CLAIM)])
    beside = model.judge([(FACT, CLAIM), (premise, CLAIM), (FILLER, CLAIM)])
    assert alone.sum() == 1_000_000
    assert (alone[0] == beside[1]).all()
