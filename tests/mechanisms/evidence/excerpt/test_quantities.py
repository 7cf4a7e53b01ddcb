"""A quote must not end or begin inside a quantity; one in a script without spaces has the room that others have."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.evidence.excerpt.naive_align import align_naively
from weighbeam.mechanisms.evidence.excerpt.align import align
from weighbeam.mechanisms.evidence.excerpt.checks import is_valid_excerpt
from weighbeam.mechanisms.evidence.excerpt.match import match_excerpt
from weighbeam.mechanisms.evidence.excerpt.page_tokens import tokenise

RISE = "The share of women among them rose from 23"
PARTS = st.sampled_from("a b 3 35 % ‰ $ € < ± + = million percent first not A. , \n".split(" "))


@pytest.mark.parametrize(
    ("page", "excerpt"),
    [
        (f"{RISE}% to 35% in ten years.", f"{RISE}% to 35"),
        (f"{RISE} % to 35 % in ten years.", f"{RISE} % to 35"),
        (f"{RISE}‰ to 35‰ in ten years.", f"{RISE}‰ to 35"),
        (f"{RISE} to 35 percent in ten years.", f"{RISE} to 35"),
        (f"{RISE} to 35 million in ten years.", f"{RISE} to 35"),
        (f"{RISE} to 35 € in ten years.", f"{RISE} to 35"),
        (f"{RISE} to 35+ in ten years.", f"{RISE} to 35"),
        (f"{RISE} to 35 ± 2 in ten years.", f"{RISE} to 35"),
        ("It cost them $35 to build the whole of it.", "35 to build the whole of it"),
        ("It was < 35 in the whole of that year.", "35 in the whole of that year"),
        ("It cost them five million in that year alone and no more.", "million in that year alone and no"),
    ],
)
def test_a_quantity_is_not_cut(page: str, excerpt: str) -> None:
    found = match_excerpt(excerpt, tokenise(page))
    assert (found.found, found.altered) == (False, "number")


@pytest.mark.parametrize(
    ("page", "excerpt"),
    [
        (f"{RISE}% to 35% in ten years.", f"{RISE}% to 35%"),
        (f"{RISE}% to 35% in ten years.", "to 35% in ten years"),
        (f"{RISE} to 35. Million people came.", f"{RISE} to 35"),
        (f"{RISE} to 35\n% of all of them", f"{RISE} to 35"),
        ("There were 20% 35 years before this, they say.", "35 years before this, they say"),
        ("It was in 1935 two ships sank near the coast.", "It was in 1935"),
        (f"{RISE} to 35 km in ten years.", f"{RISE} to 35"),
        (f"Once {RISE} to 35%. Later {RISE} to 35.", f"{RISE} to 35"),
    ],
)
def test_what_cuts_none_is_found(page: str, excerpt: str) -> None:
    assert match_excerpt(excerpt, tokenise(page)).found


def test_the_earliest_whole_one_is_found_even_with_a_typo() -> None:
    page = tokenise(f"Once {RISE} to 35%. Later {RISE.replace('women', 'wimen')} to 35.")
    found = match_excerpt(f"{RISE} to 35", page)
    assert (found.found, found.typos) == (True, 1)
    assert found.text is not None
    assert found.text.startswith("The share of wimen")


@settings(max_examples=500)
@given(st.lists(PARTS, max_size=24), st.lists(PARTS, min_size=1, max_size=6), st.integers(0, 1))
def test_it_agrees_with_the_plain_walk(page: list[str], excerpt: list[str], budget: int) -> None:
    tokens, forms = tokenise(" ".join(page)), tokenise(" ".join(excerpt)).forms
    found = align(tokens, forms, budget)
    assert (found and (found.typos, found.first, found.last)) == align_naively(tokens, forms, budget)


CHINESE = "月球的引力是海洋潮汐的主要原因而太阳的作用较小"


@pytest.mark.parametrize(
    ("excerpt", "valid"),
    [
        (CHINESE * 9, True),
        (CHINESE * 40, True),
        (CHINESE * 44, False),
        (f"{CHINESE * 10} and {'the moon ' * 80}", True),
        (f"{CHINESE * 4} and {'a b c ' * 67}", False),
        ("月球的引", False),
    ],
)
def test_characters_without_spaces_are_not_counted_as_so_many_words(excerpt: str, valid: bool) -> None:
    assert is_valid_excerpt(excerpt, 5) is valid


def test_a_long_chinese_quote_is_found_and_its_words_may_be_mistyped() -> None:
    page = tokenise(f"{CHINESE * 30} gravity")
    assert match_excerpt(CHINESE * 30, page).found
    assert match_excerpt(f"{CHINESE * 30} gravty", page).typos == 1
    assert not match_excerpt((CHINESE * 30).replace("主", "次", 1), page).found
