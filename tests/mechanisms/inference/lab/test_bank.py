"""The bank of honest answers: worded apart, and as long as their grade says."""

from collections import Counter
from itertools import combinations
from typing import get_args

import pytest

from weighbeam.core.text import clean_text, find_words, split_sentences
from weighbeam.mechanism.records import Answer, Asked, Group, Scored, Task
from weighbeam.mechanisms.inference.lab.world import Grade, load_graded
from weighbeam.mechanisms.inference.mechanism import Inference
from weighbeam.mechanisms.inference.miners.prepared_answers import load_answers, load_prompts
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.text.counts import ParsedText, compare_texts
from weighbeam.senses.local import LocalSenses

COUNTS = {"good": 2, "plain": 3, "weak": 2}
WORDS = {"good": (70, 110), "plain": (45, 75), "weak": (22, 45)}
MOST_SHARED = 0.15
"""Of word triples; copies share 0.6."""
NAMES = sorted(load_graded())


def list_texts(name: str) -> list[str]:
    """The voices of the prepared answers, then those of the bank."""
    return [*load_answers()[name], *(answer.text for answer in load_graded()[name])]


def test_twenty_prompts_of_the_prepared_ones() -> None:
    assert len(NAMES) == 20
    assert set(NAMES) <= set(load_answers())
    assert set(get_args(Grade)) == set(COUNTS)
    assert load_graded() is load_graded()


@pytest.mark.parametrize("name", NAMES)
def test_each_grade_has_its_number_and_length(name: str) -> None:
    answers = load_graded()[name]
    assert Counter(answer.grade for answer in answers) == COUNTS
    for answer in answers:
        least, limit = WORDS[answer.grade]
        assert least <= len(answer.text.split()) <= limit, answer.text
        assert answer.text == answer.text.strip()
        assert answer.text.isascii()
        assert answer.text.isprintable()


@pytest.mark.parametrize("name", NAMES)
def test_no_two_answers_share_a_sentence_or_many_triples(name: str) -> None:
    texts = list_texts(name)
    said = [{tuple(find_words(sentence)) for sentence in split_sentences(clean_text(text))} for text in texts]
    assert not any(one & other for one, other in combinations(said, 2))
    overlap = compare_texts([ParsedText(text) for text in texts])
    assert max(overlap[i, j] for i, j in combinations(range(len(texts)), 2)) < MOST_SHARED


def score_answers(name: str, senses: LocalSenses) -> Scored:
    """A round of all voices and all graded answers, whose hotkeys end in their grade."""
    prompt = next(prompt for prompt, known in load_prompts().items() if known == name)
    grades = ["voice"] * len(load_answers()[name]) + [answer.grade for answer in load_graded()[name]]
    given = zip(grades, list_texts(name), strict=True)
    answers = tuple(Answer(f"{at:02}-{grade}", {"text": text}, 2.0, "ok") for at, (grade, text) in enumerate(given))
    asked = Asked(Task(name, {"prompt": prompt}), Group(tuple(a.hotkey for a in answers)), answers, "seed")
    mechanism, params = Inference(), InferenceParams()
    return mechanism.score(params, mechanism.observe(params, asked, senses))


@pytest.mark.parametrize("name", ["gps-positioning", "suez-canal"])
def test_no_honest_answer_is_flagged_or_taken_for_a_copy(name: str, senses: LocalSenses) -> None:
    """How the grades score is not asked for here: the bank was not written to fit the scorer."""
    scored = score_answers(name, senses)
    flags = {"off_topic", "echo", "not_prose", "thin", "empty"}
    assert not [score for score in scored.scores if flags.intersection(score.reasons)]
    assert not scored.summary["copies"]
