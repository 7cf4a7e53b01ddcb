"""Words, sentences and counts where texts are strange."""

import time
from itertools import takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests_root import ROOT
from weighbeam.core.text import FUNCTION_WORDS, clean_text, find_words, split_sentences
from weighbeam.mechanisms.inference.text.counts import ParsedText, compare_texts, count_text, find_marks
from weighbeam.mechanisms.inference.text.words import FILLER_WORDS, label_polarity


def test_the_word_lists_are_those_of_the_specification() -> None:
    lines = (ROOT / "docs/spec/inference.md").read_text().splitlines()
    for name, words in (("Function", FUNCTION_WORDS), ("Filler", FILLER_WORDS)):
        begin = next(number for number, line in enumerate(lines) if line.startswith(f"{name} words: "))
        listed = " ".join(takewhile(lambda line: line and " words: " not in line[10:], lines[begin:]))
        assert words == set(listed.removeprefix(f"{name} words: ").split())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("state-of-the-art", ["state", "of", "the", "art"]),
        ("Don’t 'quote' it", ["don’t", "quote", "it"]),
        ("ﬁve ４５０ nm²", ["five", "450", "nm2"]),
        ("s\u200bk\u00ady", ["sky"]),
        ("مرحبا בעולם", ["مرحبا", "בעולם"]),
        ("snake_case", ["snake", "case"]),
        ("🌉\x00\x1b[31m", ["31m"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert find_words(clean_text(text)) == words


def test_sentences_end_at_line_breaks_and_after_stops() -> None:
    assert split_sentences("It is 3.5 m long.\r\nIs it so? Yes!\u2028今日は 晴れ。 明日は 雨！") == [
        "It is 3.5 m long.", "Is it so?", "今日は 晴れ。", "明日は 雨！",
    ]  # fmt: skip
    assert len(split_sentences("So it goes. " * 100)) == 64
    assert split_sentences(" Yes. No. ") == ["Yes. No."]
    assert split_sentences(". . .") == []


def test_marks_are_figures_names_and_long_words_that_the_prompt_lacks() -> None:
    assert find_marks(["Rayleigh met Lord Kelvin 3rd.", "Scattering is General."]) == {
        "lord",
        "kelvin",
        "3rd",
        "scatte",
    }
    counts = count_text(
        ParsedText("In 1871 Kelvin explained Scattering."), ParsedText("Who explained scattering in 1871?")
    )
    assert counts.marks == 1


def test_labels() -> None:
    assert [label_polarity(find_words(text)) for text in ("Yes.", "NOPE", "Not so", "True, but")] == [
        "yes", "no", None, "yes",
    ]  # fmt: skip


def test_overlap_counts_triples_and_equal_short_texts() -> None:
    texts = [
        ParsedText("a b c d"),
        ParsedText("A b, c e"),
        ParsedText("yes"),
        ParsedText("Yes!"),
        ParsedText("no"),
        ParsedText("a b c d a b c"),
    ]
    overlap = compare_texts(texts)
    assert overlap[0, 1] == pytest.approx(1 / 3)
    assert overlap[2, 3] == 1
    assert overlap[2, 4] == 0
    assert overlap[0, 5] == pytest.approx(2 / 4)
    assert (overlap == overlap.T).all()


def test_a_text_of_nothing_but_marks_takes_no_time() -> None:
    start = time.process_time()
    count_text(ParsedText("\u0316\u0301" * 15_000), ParsedText("Why?"))
    count_text(ParsedText("a \u0316\u0301" * 12_000), ParsedText("Why?"))
    assert time.process_time() - start < 2


@given(st.text(max_size=300), st.text(max_size=80))
def test_counts_are_consistent(text: str, prompt: str) -> None:
    counts = count_text(ParsedText(text), ParsedText(prompt))
    assert counts.distinct_words <= counts.words
    assert counts.content + counts.function <= counts.words
    assert counts.fresh <= counts.stems <= counts.content
    assert counts.echoed <= counts.triples == max(0, counts.words - 2)
    assert counts.distinct_sentences <= counts.sentences <= 64
    assert (counts.sentences > 0) == (counts.words > 0)
