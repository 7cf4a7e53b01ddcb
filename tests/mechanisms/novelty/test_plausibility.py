"""The gate: what people write passes in any script and register, nonsense is held, and old looks are judged as then."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weighbeam.mechanisms.novelty.lab.attacks import hit_keys, invent_word, swap_letters
from weighbeam.mechanisms.novelty.measure import find_refusal, prepare_text
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.plausibility import TextLook, count_words, find_doubts
from weighbeam.senses.local import LocalSenses

PROSE, OTHER = NoveltyParams(), NoveltyParams(prose=False)
WRITTEN = (
    "The old ferry crosses the river every morning, and it carries farmers to the market in the town. The captain "
    "knows all of them by name, because he has worked on this river for thirty years."
)


def doubt(senses: LocalSenses, text: str, params: NoveltyParams = PROSE) -> tuple[str, ...]:
    return find_doubts(prepare_text(text, params, senses.word_pieces).look)


@pytest.mark.parametrize(
    "text",
    [
        "What is the difference between == and ===?",
        "How do I use <div> inside <span>?",
        "Why is 0.1 + 0.2 != 0.3 in Python?",
        "How can I turn $5,000 into $20,000?",
        "What is 12 * 12 + 1?",
        'Is it "a hour" or "an hour" in "I waited ___ hour"?',
        "Two dogs run across wet sand.",
        "Woman slices onion.",
        "Storm closes three mountain passes.",
        WRITTEN,
    ],
)
def test_terse_sentences_and_questions_about_code_pass(senses: LocalSenses, text: str) -> None:
    assert doubt(senses, text) == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("潮水每天涨落两次。", 8),
        ("海は一日に二度満ちる。", 10),
        ("น้ำขึ้นวันละสองครั้ง", 20),
        ("ນ້ຳຂຶ້ນມື້ລະສອງເທື່ອ", 20),
        ("ទឹកជោរពីរដងក្នុងមួយថ្ងៃ", 23),
        ("ရေသည် တစ်နေ့ နှစ်ကြိမ် တက်သည်", 26),
    ],
)
def test_scripts_without_spaces_are_counted_by_letter(senses: LocalSenses, text: str, words: int) -> None:
    assert 3 <= count_words(text) <= words
    assert find_refusal(text, PROSE) is None
    assert "not_prose" in doubt(senses, text)
    assert set(doubt(senses, text, OTHER)) <= {"unreadable", "repetition"}


def test_korean_has_words() -> None:
    assert count_words("바다는 하루에 두 번 밀려온다") == 5


def test_two_words_are_too_short_still() -> None:
    assert find_refusal("two words", PROSE) is not None


def make_nonsense(kind: str, chance: np.random.Generator) -> str:
    class Turn:
        pass

    turn = Turn()
    turn.chance = chance  # type: ignore[attr-defined]
    words = WRITTEN.split()
    return {
        "letters": lambda: hit_keys(None, turn),  # type: ignore[arg-type]
        "made up": lambda: " ".join(f"{chance.choice(['the', 'of', 'a'])} {invent_word(chance)}" for _ in range(8)),
        "shuffled": lambda: " ".join(str(word) for word in chance.permutation(words)),
        "misspelt": lambda: " ".join(swap_letters(str(word)) for word in chance.permutation(words)),
        "signs": lambda: "".join(str(sign) for sign in chance.choice(list("#$%^&*()_+=-{}[]<>09 "), 60)) + " a b c",
        "again": lambda: "buy the house now " * 8,
    }[kind]()


@pytest.mark.parametrize(
    ("kind", "least"),
    [("letters", 20), ("made up", 19), ("shuffled", 17), ("misspelt", 17), ("signs", 20), ("again", 20)],
)
def test_nonsense_is_held(senses: LocalSenses, kind: str, least: int) -> None:
    chance = np.random.default_rng(7)
    assert sum(bool(doubt(senses, make_nonsense(kind, chance))) for _ in range(20)) >= least


def test_a_look_of_before_is_judged_by_the_rule_of_then() -> None:
    kept = {"words": 8, "tokens": 8, "pieces": 12, "commonest": 5, "unknown": 0, "letters": 29, "characters": 42}
    look = TextLook.from_json({**kept, "language": 1_000_000})
    assert look.wording is None
    assert find_doubts(look) == ("repetition",)
    assert TextLook.from_json(look.as_json()) == look


def test_a_look_is_read_back_as_it_was(senses: LocalSenses) -> None:
    look = prepare_text(WRITTEN, PROSE, senses.word_pieces).look
    assert TextLook.from_json(look.as_json()) == look
    assert all(isinstance(number, int) for number in look.as_json()["wording"].values())


@settings(max_examples=60, deadline=None)
@given(text=st.text(st.characters(codec="utf-8"), max_size=120), prose=st.booleans())
def test_every_text_has_a_look(senses: LocalSenses, text: str, prose: bool) -> None:
    params = NoveltyParams(prose=prose, min_words=1)
    if find_refusal(text, params) is None:
        look = prepare_text(text, params, senses.word_pieces).look
        assert TextLook.from_json(look.as_json()) == look
        assert find_doubts(look) == find_doubts(look)


def test_words_in_another_order_are_not_the_same_look(senses: LocalSenses) -> None:
    words = WRITTEN.split()
    random.Random(3).shuffle(words)
    assert "word_salad" in doubt(senses, " ".join(words))
    assert "word_salad" not in doubt(senses, " ".join(words), OTHER)
