"""The fast alignment against the plain one, and how much work hostile pages can make."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from mechanisms.evidence.excerpt.naive_align import align_naively
from weighbeam.mechanisms.evidence.excerpt import align as steps
from weighbeam.mechanisms.evidence.excerpt import align as subject
from weighbeam.mechanisms.evidence.excerpt.align import align, find_typos
from weighbeam.mechanisms.evidence.excerpt.match import match_excerpt
from weighbeam.mechanisms.evidence.excerpt.page_tokens import Vocabulary, tokenise

FEW = st.sampled_from(
    "a b ab ba aa abab not 1 abcd abce abdc bbcd abcde Abcd abcdx don't can cannot with out without".split()
)


@settings(max_examples=400)
@given(st.lists(FEW, max_size=40), st.lists(FEW, min_size=1, max_size=12), st.integers(0, 3))
def test_it_agrees_with_the_plain_walk(page: list[str], excerpt: list[str], budget: int) -> None:
    tokens, forms = tokenise(" ".join(page)), tokenise(" ".join(excerpt)).forms
    found = align(tokens, forms, budget)
    assert (found and (found.typos, found.first, found.last)) == align_naively(tokens, forms, budget)


@settings(max_examples=200)
@given(st.lists(FEW, min_size=3, max_size=40), st.data())
def test_it_agrees_on_slices_with_slips(page: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(page) - 1))
    excerpt = [data.draw(FEW) if data.draw(st.integers(0, 5)) == 0 else word for word in page[first:]]
    tokens, forms = tokenise(" ".join(page)), tokenise(" ".join(excerpt)).forms
    found = align(tokens, forms, len(forms) // 8)
    assert (found and (found.typos, found.first, found.last)) == align_naively(tokens, forms, len(forms) // 8)


WORDS = st.text("abé", min_size=3, max_size=8).map("a".__add__)


@settings(max_examples=300)
@given(st.lists(WORDS, unique=True, max_size=12), WORDS, st.data())
def test_typos_are_those_one_edit_away(words: list[str], form: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, len(form) - 1))
    near = {form[:at] + form[at + 1 :], form[:at] + "x" + form[at:], form[: at - 1] + form[at - 1 : at + 1][::-1]}
    vocabulary = Vocabulary(list(dict.fromkeys([*words, *(word for word in near if len(word) >= 4)])))
    found = find_typos(vocabulary, form, np.arange(len(vocabulary)))
    wanted = [word for word in vocabulary.forms if word[0] == form[0] and OSA.distance(word, form) == 1]
    assert sorted(vocabulary.forms[number] for number in found.tolist()) == sorted(wanted)


@settings(max_examples=400)
@given(st.lists(FEW, max_size=40), st.lists(FEW, min_size=1, max_size=12), st.integers(0, 3))
def test_it_agrees_when_masks_are_not_kept_and_few_walks_are_left(
    page: list[str], excerpt: list[str], budget: int
) -> None:
    tokens, forms = tokenise(" ".join(page)), tokenise(" ".join(excerpt)).forms
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("MAX_EQUAL", 1), ("MAX_KEPT", 1), ("FEW_WORDS", 0)):
            patch.setattr(steps, name, value)
        for name, value in (("PASSES_PER_LOOK", 1), ("SPARSE", 0)):
            patch.setattr(subject, name, value)
        found = align(tokens, forms, budget)
    assert (found and (found.typos, found.first, found.last)) == align_naively(tokens, forms, budget)


@pytest.fixture
def priced(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many words were compared letter by letter in each pass over the page."""
    passes: list[int] = []
    price, find_typos = subject._price, steps.find_typos

    def count_pass(*arguments: Any) -> Any:
        passes.append(0)
        return price(*arguments)

    def count_words(vocabulary: Any, form: str, numbers: Any) -> Any:
        passes[-1] += len(numbers)
        return find_typos(vocabulary, form, numbers)

    monkeypatch.setattr(subject, "_price", count_pass)
    monkeypatch.setattr(steps, "find_typos", count_words)
    return passes


def test_repetition_without_joins_takes_no_pass_at_all(priced: list[int]) -> None:
    page = tokenise("a " * 500_000)
    assert match_excerpt("a " * 200, page).span == (0, 399)
    assert not match_excerpt("a " * 199 + "b", page).found
    assert not match_excerpt("a " * 100_000 + "b", page).found
    assert match_excerpt("a " * 100_000, page).found
    assert priced == []


@pytest.mark.parametrize(
    ("page", "excerpt"),
    [
        ("a b " * 100_000 + "ab", "ab " * 199 + "b"),
        ("a b " * 100_000 + "ab", "a b " * 99 + "b b"),
        ("abcd " * 100_000 + "abce", "abcd " * 150 + "abcx " * 18),
    ],
)
def test_hostile_pages_take_one_pass_per_form(page: str, excerpt: str, priced: list[int]) -> None:
    tokens = tokenise(page)
    forms = tokenise(excerpt).forms
    align(tokens, forms, len(forms) // 8)
    assert len(priced) <= len(forms)
    assert sum(priced) <= len(forms) * len(tokens.vocabulary)


def test_words_are_compared_only_while_typos_last(priced: list[int]) -> None:
    words = [f"a{chr(0xAC00 + i)}aaa" for i in range(5_000)]
    assert not match_excerpt(" ".join(words[:190]), tokenise(" ".join(reversed(words)))).found
    assert 0 < sum(priced) <= 25 * len(words)


def test_an_excerpt_no_check_would_pass_matches_exactly_or_not_at_all() -> None:
    words = [f"word{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(400)]
    page = tokenise(" ".join(words))
    assert match_excerpt(" ".join(words[10:390]), page).found
    assert not match_excerpt(" ".join([*words[10:390], words[390] + "x"]), page).found


def test_marks_in_the_million_are_read_in_one_go() -> None:
    assert len(tokenise("e" + "\u0301\u0327" * 100_000)) == 1
