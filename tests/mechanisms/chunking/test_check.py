"""Fail states and spans: against a slow oracle, against hostile answers, and the promises of the specification."""

import time
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import mechanisms.chunking.naive_check as naive
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.text import to_nfc
from weighbeam.mechanisms.chunking.check import ReferenceDocument
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.words import CLASSES, split_words

LOOSE, STRICT = ChunkingParams(), ChunkingParams(strict=True)
letters = st.sampled_from([*"aab.  \n,é走了「」_1", "e\u0301", "\u0301", "\u00a0", "\u3000", "ก", "ำ"])
texts = st.lists(letters, min_size=1, max_size=24).map("".join)


@given(st.text() | texts)
def test_words_are_the_specification_read_slowly(text: str) -> None:
    found = split_words(text)
    expected = naive.words(text)
    assert list(found.forms) == [form for form, _, _ in expected]
    assert list(zip(found.starts, found.ends, strict=True)) == [(start, end) for _, start, end in expected]


def test_white_space_is_exactly_the_listed_characters() -> None:
    assert {c for c in map(chr, range(0x110000)) if CLASSES[ord(c)] == " "} == naive.WHITE


@st.composite
def answers(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A document and chunks that are cut from it, then perhaps spoiled."""
    document = draw(texts.filter(lambda text: naive.words(text)))
    cuts = sorted(draw(st.lists(st.integers(0, len(document)), max_size=4)))
    chunks = [document[a:b] for a, b in zip([0, *cuts], [*cuts, len(document)], strict=True)]
    spoil = draw(st.sampled_from(["no", "no", "swap", "drop", "repeat", "insert", "pad"]))
    at = draw(st.integers(0, len(chunks) - 1))
    if spoil == "swap":
        chunks = [*chunks[at:], *chunks[:at]]
    elif spoil == "drop":
        chunks = chunks[:at] + chunks[at + 1 :]
    elif spoil == "repeat":
        chunks = chunks[: at + 1] + chunks[at:]
    elif spoil == "insert":
        chunks = [*chunks[:at], draw(texts), *chunks[at:]]
    elif spoil == "pad":
        chunks = ["\n " + chunk.replace(" ", "  ") + "\t" for chunk in chunks]
    return document, chunks or [""]


@settings(max_examples=600)
@given(answers(), st.integers(1, 12), st.booleans())
@example(("aaab", ["aaa", "b"]), 4, False)
def test_every_verdict_is_the_oracle_s(answer: tuple[str, list[str]], size: int, strict: bool) -> None:
    text, chunks = answer
    document = ReferenceDocument(text)
    params = STRICT if strict else LOOSE
    expected = naive.check(text, chunks, size, strict)
    for _ in range(2):
        checked = document.check(chunks, size, params)
        if expected[0] is not None:
            assert (checked.failure, checked.chunk, checked.word, checked.at, checked.text) == expected
            continue
        assert checked.failure is None
        assert checked.tiled == expected[1]
        assert checked.lossless == ("".join(chunks) == text)
        starts = [w[1] for w in naive.words(text)]
        for first, span, exact, chunk in zip(expected[2], checked.spans, checked.exact, chunks, strict=True):
            if first is None:
                assert span is None
                assert not exact
                continue
            lead = len(chunk) - len(chunk.lstrip())
            assert span[0] == starts[first] - (lead if exact else 0)
            assert exact == (text[span[0] : span[1]] == chunk) or not exact


@given(texts.filter(lambda text: naive.words(text)), st.integers(1, 6))
def test_cutting_between_words_always_passes_and_spans_give_the_text_back(text: str, every: int) -> None:
    words = split_words(text)
    cuts = [*words.starts[::every][1:], len(text)]
    chunks = [text[a:b] for a, b in zip([0, *cuts], cuts, strict=False)]
    checked = ReferenceDocument(text).check(chunks, 5, STRICT)
    assert checked.ok
    assert checked.tiled
    assert checked.lossless
    assert "".join(text[a:b] for a, b in checked.spans) == text.strip() or all(checked.exact)


@pytest.mark.parametrize(
    ("chunks", "failure", "chunk"),
    [
        (None, "no_chunks", None),
        ([], "no_chunks", None),
        ("one two", "malformed", None),
        ({"0": "one"}, "malformed", None),
        (["one", 7], "malformed", 1),
        (["one", None], "malformed", 1),
        ([["one"]], "malformed", 0),
        (["one \ud800"], "malformed", 0),
        (["one two"] * 400, "too_large", None),
    ],
)
def test_what_is_no_answer_fails_by_name(chunks: object, failure: str, chunk: int | None) -> None:
    checked = ReferenceDocument("one two three").check(chunks, 10, LOOSE)
    assert (checked.failure, checked.chunk) == (failure, chunk)


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (None, "bad_document"),
        (7, "bad_document"),
        ("a \ud800", "bad_document"),
        ("", "empty_document"),
        (" \n\u3000", "empty_document"),
        ("a" * 1_000_001, "bad_document"),
    ],
)
def test_documents_that_cannot_be_asked(document: object, code: str) -> None:
    with pytest.raises(WeighbeamError, match=code):
        ReferenceDocument(document)


SIZE = 60_000


@pytest.mark.parametrize(
    "chunks",
    [
        ["a " * SIZE],
        ["a"] * SIZE,
        ["a b"] * (SIZE // 2),
        [f"z{i}" for i in range(SIZE)],
        [f"a{'' if i % 2 else ' '}" for i in range(SIZE)],
        ["a " * (SIZE // 2) + "b"],
        [("a " * 99 + "b ")] * (SIZE // 100),
        [""] * SIZE,
        ["a " * SIZE + "b", *(f"z{i}" for i in range(SIZE // 2))],
        ["a" + "\u0301" * SIZE + "\u0316" * SIZE],
        ["\u0316\u0301" * SIZE],
    ],
    ids=[
        "one", "singles", "pairs", "strangers", "two kinds", "almost", "near miss", "empty", "whole first",
        "marks to sort", "marks to mix",
    ],
)  # fmt: skip
def test_hostile_answers_cost_linear_time(chunks: list[str]) -> None:
    """The worst answers found for a substring search; quadratic work here would take minutes."""
    document = ReferenceDocument("a " * SIZE + "b")
    start = time.process_time()
    document.check(chunks, 100, LOOSE)
    assert time.process_time() - start < 5


@given(
    st.lists(st.sampled_from("ae\u0301\u0316\u0327\u0345ñḍ\u0323ガ\u3099각"), min_size=60, max_size=200).map("".join)
)
def test_long_words_have_the_library_s_own_form(word: str) -> None:
    assert to_nfc(word) == unicodedata.normalize("NFC", word)


def test_chunks_with_other_white_space_are_found_without_reading_their_words() -> None:
    sentences = [f"The  {number}th\nwell\u00a0lay {number * 7} feet\t deep, Ada said." for number in range(60)]
    text = "\n\n".join(sentences)
    document = ReferenceDocument(text)
    chunks = [" ".join(" ".join(sentences[i : i + 3]).split()) + "  " for i in range(0, 60, 3)]
    slow = [document._parse_words(chunk) for chunk in chunks]
    for piece, other in zip(document.read(chunks), slow, strict=True):
        assert (piece.letters, piece.start, piece.end) == (other.letters, other.start, other.end)
        assert piece.found is not None
        assert text[slice(*piece.found)].split() == piece.text.split()


def test_a_text_that_stands_twice_misleads_no_later_chunk() -> None:
    """Remembered from its other place, it does not help; what follows is still found where it stands, not cut again."""
    twice = "The tide comes in, and the tide goes out. "
    middle = [f"Sentence number {number} is about something else altogether. " for number in range(40)]
    chunks = [twice, *middle[:20], twice, *middle[20:]]
    document = ReferenceDocument("".join(chunks))
    late = document.read(["".join(chunks[:21]), *chunks[21:]])
    early = document.read(chunks)
    assert all(piece.found is not None for piece in (*early, *late))
    assert "".join(piece.letters for piece in early) == "".join(piece.letters for piece in late) == document.letters
