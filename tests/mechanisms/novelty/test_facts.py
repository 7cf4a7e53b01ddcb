"""The second look and what it pays: spelling undone, parts known, kin under one cap, floats of any make."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.compare import compare_texts, count_in_order, read_text
from weighbeam.mechanisms.novelty.facts import (
    APART_LESS,
    FOLLOW_MORE,
    Kin,
    Look,
    NoveltyFacts,
    is_undecided,
    parse_facts,
    value_contribution,
)
from weighbeam.mechanisms.novelty.known import gather_facts, read_known
from weighbeam.mechanisms.novelty.measure import MeasuredText, read_embedded
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.reward import parse_similarity, reward_units
from weighbeam.mechanisms.novelty.scale import SCALES, parse_scale
from weighbeam.mechanisms.novelty.spelling import (
    KEPT_OF,
    RUN,
    count_known,
    hash_runs,
    hash_triples,
    keep_runs,
    normalise_spelling,
    squeeze_letters,
)
from weighbeam.mechanisms.novelty.stages import UNSEEN

HARBOUR = "Fishermen from three villages shared the cost of the stone pier"
CAP = 100_000_000_000
PLAIN = st.text("abcdefghijklmnopqrstuvwxyz ", max_size=60)


@pytest.mark.parametrize(
    "spelt",
    [
        "Fisherm&#101;n from thr&#x65;e villag&eacute;s shared the cost of the stone pier",
        "Fish3rmen fr0m three v1llages shared the c0st of the st0ne pier",
        "Fіshermen frоm three villаges shared the cоst of the stоne pier",
        "Fisher\u200bmen from three vil\u00adlages sha\u0301red the cost of the stone pier",
        "Fisher_men from thr*ee villages shared the c~ost of the stone pier",
        "F i s h e r m e n from three villages shared the c.o.s.t of the stone pier",
    ],
)
def test_a_trick_of_spelling_is_undone(spelt: str) -> None:
    assert normalise_spelling(spelt) == HARBOUR


@pytest.mark.parametrize(
    "text",
    [
        "The 3rd of May at 5.30 pm costs $4, says Q4's B2B report on COVID19, H2O and 10km runs.",
        "Где находится библиотека? Спросите у входа.",
        "图书馆在哪里？请问一下门口的人。",
        "A well-known and/or e.g. case: user@example.org, v1.0, C++, x86",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert normalise_spelling(text) == text.replace("？", "?")


@given(PLAIN, PLAIN)
@settings(max_examples=60)
def test_letters_in_order_are_the_longest_common_subsequence(one: str, other: str) -> None:
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            table[i + 1][j + 1] = table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
    assert count_in_order(one, other) == table[-1][-1]


@given(st.text("bdfgklmnprst", min_size=RUN + KEPT_OF - 1, max_size=40), PLAIN, PLAIN)
@settings(max_examples=60)
def test_a_copied_run_is_found_whatever_stands_around_it(copied: str, before: str, after: str) -> None:
    kept = keep_runs(hash_runs(before + copied + after))
    assert kept.intersection(hash_runs(copied))


def test_a_part_of_a_known_text_is_known() -> None:
    whole, part = squeeze_letters(HARBOUR), squeeze_letters("shared the cost of the stone")
    assert count_known(part, [False] * len(hash_runs(part)), [whole]) == len(part)


@given(st.integers(-1_000_000, 1_000_000), st.integers(0, 10**7), st.integers(0, 10**7))
@settings(max_examples=60)
def test_a_scale_keeps_the_order_and_forgives_more_in_a_larger_corpus(micro: int, rows: int, more: int) -> None:
    scale = parse_scale("minilm-1")
    assert scale is not None
    assert scale.read(micro, rows) <= scale.read(min(1_000_000, micro + 1000), rows)
    assert micro < 0 or scale.read(micro, rows + more) <= scale.read(micro, rows)


def test_a_released_scale_stays_what_it_is() -> None:
    assert SCALES["minilm-1"] == "0.7 0.12 0.66 0.75 2"
    assert SCALES["minilm-2"] == "0.6975 0.12 0.6725 0.75 4"
    with pytest.raises(ValueError, match="no scale"):
        NoveltyParams(scale="minilm-99")


@given(st.integers(-1_000_000, 1_000_000))
def test_neutral_parameters_pay_by_the_cosine_alone(micro: int) -> None:
    seed = NoveltyParams(scale="identity", second_look=False, parts=False, kin_similarity=2.0)
    facts = NoveltyFacts(
        5000, sentences=((5, 900_000), (5, 10)), letters=9, known=9, own=1, kin=(Kin("1", 10**6, CAP),)
    )
    assert value_contribution(micro, facts, seed).units == reward_units(micro, seed)


@given(st.lists(st.integers(0, 1_000_000), min_size=1, max_size=12))
@settings(max_examples=40)
def test_kin_are_never_paid_more_than_one_cap(cosines: list[int]) -> None:
    """A chain in which each is near the one before it."""
    params, charged, paid = NoveltyParams(), 0, 0
    for place, micro in enumerate(cosines):
        kin = (Kin(str(place), 900_000, charged),) if place else ()
        value = value_contribution(micro, NoveltyFacts(100, own=place, kin=kin), params)
        charged, paid = value.charged, paid + value.units
    assert paid <= CAP


def test_an_exchange_is_no_mere_change_of_order() -> None:
    known = read_text("Ada sold the red boat to Bob before the storm came.")
    assert compare_texts(known, read_text("Bob sold the red boat to Ada before the storm came.")).exchanged
    assert not compare_texts(known, read_text("Before the storm came, Ada sold the red boat to Bob.")).exchanged
    joined = read_text("Rome and Bern are old cities.")
    assert not compare_texts(joined, read_text("Bern and Rome are old cities.")).exchanged


def test_a_number_of_any_library_is_a_similarity() -> None:
    assert parse_similarity(np.float64(0.82)) == parse_similarity(np.float32(0.82)) == 820_000
    for bad in (np.float64("nan"), np.bool_(True), np.str_("0.5"), float("inf")):
        with pytest.raises(WeighbeamError, match="similarity"):
            parse_similarity(bad)


@given(st.integers(0, 60), st.integers(3, 12))
@settings(max_examples=60)
def test_words_in_a_row_of_a_known_text_are_found_however_few(start: int, count: int) -> None:
    """By their words if they are too short to have a kept run for certain, else by their letters."""
    words = f"{HARBOUR}, and in a row of old sheds it is the tar that one smells at dawn or so we say.".split()
    part = read_text(" ".join(words[start % (len(words) - count) :][:count]))
    kept = read_text(" ".join(words)).list_kept()
    if part.is_short:
        assert kept.issuperset(hash_triples(part.all_words))
    else:
        assert kept.intersection(hash_runs(part.all_letters))


@pytest.mark.parametrize(
    "spelt",
    [
        "Fishermen from three segalliv shared the cost of the enots pier",
        "Fishxermen from threxe villages shared the cost of the stone pier",
        "Fishermen from three vllgs shared the cost of the ston pier",
    ],
)
def test_words_respelt_where_they_stand_are_the_same_letters(spelt: str) -> None:
    known = read_text(HARBOUR)
    compared = compare_texts(known, read_text(spelt))
    assert compared.letters_in_order == compared.letters == compared.known_letters
    assert compared.words_in_order < compared.words


def test_another_word_in_the_same_place_stays_another() -> None:
    known, new = read_text("Rents rose in Bern in 1911."), read_text("Wages rose in Rome in 1191.")
    assert compare_texts(known, new).letters_in_order < len(new.letters)


def make_look(
    cosine: int, known: str = "How do I learn to swim?", new: str = "How do I learn to dive?"
) -> NoveltyFacts:
    """Too short for the order of words to count: the look says the cosine."""
    return NoveltyFacts(5000, (Look("1", cosine, compare_texts(read_text(known), read_text(new))),))


@given(st.integers(0, 1_000_000), st.integers(0, 1_000_000), st.integers(0, 1_000_000))
@settings(max_examples=80)
def test_what_follows_is_paid_less_and_what_does_not_is_paid_more(cosine: int, new: int, known: int) -> None:
    params, facts = NoveltyParams(), make_look(cosine)
    plain, told = (
        value_contribution(cosine, one, params).units for one in (facts, replace(facts, entailed=(new, known)))
    )
    if new + known > 1_000_000:
        assert told <= plain
    elif new + known < 150_000:
        assert told >= plain
    else:
        assert told == plain


@given(st.integers(0, 1_000_000))
@settings(max_examples=80)
def test_nobody_is_asked_where_no_answer_changes_the_pay(cosine: int) -> None:
    params, facts = NoveltyParams(), make_look(cosine)
    if is_undecided(cosine, facts, params):
        assert abs(cosine - 710_000) <= max(FOLLOW_MORE, APART_LESS)
        assert not is_undecided(cosine, replace(facts, letters=9, known=9), params)
        assert not is_undecided(cosine, facts, params.model_copy(update={"entailment": False}))


def test_entailment_is_asked_around_ten_tokens_only() -> None:
    asked = [
        cosine for cosine in range(500_000, 900_000, 10_000) if is_undecided(cosine, make_look(cosine), NoveltyParams())
    ]
    assert asked == list(range(640_000, 800_000, 10_000))


def test_facts_from_before_entailment_keep_their_hash() -> None:
    facts = make_look(700_000)
    assert "entailed" not in facts.as_json()
    assert parse_facts(facts.as_json()) == facts
    asked = replace(facts, entailed=(900_000, 200_000))
    assert parse_facts(asked.as_json()) == asked
    assert asked.digest != facts.digest


@pytest.mark.parametrize("digits", ["97", "0" * 5000 + "97", "1" * 5000, "0" * 5000])
def test_an_entity_of_thousands_of_digits_is_read(digits: str) -> None:
    """Python reads no number of more than 4,300 digits; the shortest way to write the same one is read alike."""
    shortest = digits.lstrip("0")[:9] or "0"
    assert normalise_spelling(f"se&#{digits}; otters") == normalise_spelling(f"se&#{shortest}; otters")


@pytest.mark.parametrize("max_chars", [100, 20_000, 50_000])
def test_a_text_reads_the_same_whatever_may_be_said_in_one(max_chars: int) -> None:
    for text in ("harbour " * 5000, "&#xFDFA;" * 10, "&#xFDFA;" * 2500):
        assert read_text(read_embedded(text, NoveltyParams(max_chars=max_chars))) == read_known(text)


class CheapDecoys:
    """Of one contributor: a text that was charged much, and eight nearer ones that were charged little."""

    def count_rows(self) -> int:
        return 9

    def find_owners(self, runs: Sequence[int]) -> Mapping[int, str]:
        return {}

    def load_texts(self, ids: Sequence[str]) -> Mapping[str, str]:
        return {}

    def measure(self, ids: Sequence[str], rows: NDArray[np.int32]) -> Mapping[str, int]:
        return {id: 400_000 if id == "1" else 600_000 for id in ids}

    def list_own(self, contributor: str, limit: int) -> Sequence[tuple[str, int]]:
        return [*((str(number), 1) for number in range(9, 1, -1)), ("1", CAP)]


def test_what_was_charged_most_counts_however_many_cheap_ones_are_nearer() -> None:
    text = "Glaciers grind the rock below them to a flour that colours the lakes turquoise."
    measured = MeasuredText(text, "", "", np.zeros((1, 4), np.int32), UNSEEN, (), read_text(text))
    facts = gather_facts(measured, "ada", None, [], CheapDecoys(), NoveltyParams())
    assert facts is not None
    assert [one.id for one in facts.kin] == ["1", *"2345678"]
    assert value_contribution(0, facts, NoveltyParams()).units == 0
