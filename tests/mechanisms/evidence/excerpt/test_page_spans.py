"""A page read as a whole is read as the plain rules read it."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from weighbeam.mechanisms.evidence.excerpt.forms import (
    classify_form,
    find_kinds,
    is_split,
    parse_forms,
    split_form,
    take_form,
    take_forms,
)
from weighbeam.mechanisms.evidence.excerpt.page_spans import find_spans
from weighbeam.mechanisms.evidence.excerpt.page_tokens import tokenise
from weighbeam.mechanisms.evidence.excerpt.text import clean_text
from weighbeam.mechanisms.evidence.excerpt.tokens import find_tokens

ODD = st.sampled_from(
    [*"aé\u0301\u0300中กั9Ⅷ²%€-—−'’.,([ ]\n\t_!\u02bc\ud800ßİǆ", "[1]", "[ 12 ]", "[note 3]", "n't", "cannot", "1,000.5"]
)
TEXTS = st.lists(ODD | st.characters(), max_size=30).map("".join)
TOKENS = st.text(st.characters(exclude_characters="\n") | st.sampled_from("ßİŉʼ'−-1,éǆ"), min_size=1, max_size=80)


@settings(max_examples=250)
@given(TEXTS)
def test_tokens_are_where_the_pattern_finds_them(text: str) -> None:
    starts, ends = find_spans(text)
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == find_tokens(text)


@settings(max_examples=100)
@given(TEXTS)
def test_a_page_has_the_forms_of_its_text(text: str) -> None:
    page = tokenise(text)
    assert page.forms == parse_forms(text)
    assert page.text == clean_text(text)


@settings(max_examples=100)
@given(st.lists(TOKENS, max_size=12))
def test_many_tokens_are_folded_as_each_alone(tokens: list[str]) -> None:
    assert take_forms(tokens) == [take_form(token) for token in tokens]


@settings(max_examples=100)
@given(
    st.lists(TOKENS | st.sampled_from("not most two % h2o € café a\u0301 不 neither 12".split()), unique=True),
    st.sets(st.sampled_from(["number", "negation", "quantifier"])),
)
def test_forms_of_a_kind_are_found_without_asking_each(forms: list[str], kinds: set[str]) -> None:
    numbered = {form: number for number, form in enumerate(forms)}
    assert find_kinds(numbered, kinds) == [number for form, number in numbered.items() if classify_form(form) in kinds]


@given(TOKENS | st.sampled_from(["cannot", "don't", "n't", "", "won't"]))
def test_only_what_is_split_counts_as_other_than_one(form: str) -> None:
    assert is_split(form) == (split_form(form) != (form,))


def test_every_text_of_three_classes() -> None:
    for characters in itertools.product("aé1²-%'.( _\u0301中", repeat=3):
        text = "".join(characters)
        starts, ends = find_spans(text)
        assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == find_tokens(text)
