"""How far answers of a round contradict each other, by the entailment sense (spec § 19): part of observing.

A few words are held against a few words, the question before both. Of longer answers sentences are compared: each with
the sentence nearest to it of every other answer. Whether a single sentence is denied says little, because good answers
differ. But who says false things is denied by nearly all others in nearly all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.quantise import MILLION
from weighbeam.mechanism.untrusted import describe_exception
from weighbeam.mechanisms.inference.text.cosines import TextVectors
from weighbeam.mechanisms.inference.text.counts import ParsedText, count_signs
from weighbeam.senses.ports.protocols import Entailment

MAX_COMPARED = 16
"""Most answers that the entailment sense compares: 240 pairs of short ones, 320 pairs of sentences."""
MAX_SAID, MAX_LETTERS = 80, 800
"""Words and characters of a short answer that is compared: a sign costs the sense as much as a word."""
MAX_ASKED = 200
MIN_SENTENCE_WORDS, MAX_SENTENCE_TOKENS, MAX_SENTENCE_LETTERS = 4, 80, 400
"""Of a sentence that is compared. What is longer is read in windows, so two giants would cost many times as much."""
MAX_SENTENCES = 40
"""Sentences of an answer that are looked at."""
READ, NEAREST = 4, 5
"""Sentences of an answer that are held against others, those nearest to any first, and against how many others."""
MIN_OTHERS = 2
SAME = 950_000
"""Answers as near as this, in millionths, say nothing about each other: one may be made from the other."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer, by the answer's number."""

    answer: int
    text: str


def contradict_briefly(
    asked: str, texts: Sequence[ParsedText], entailment: Entailment
) -> tuple[NDArray[np.float64] | None, list[str]]:
    """How far each two short answers contradict each other, in either order; and what the sense could not do."""
    said = [number for number, text in enumerate(texts) if is_brief(text)]
    if not 2 <= len(said) <= MAX_COMPARED:
        return None, []
    full = [f"{asked[-MAX_ASKED:]} {texts[number].clean}" for number in said]
    try:
        judged = entailment.judge([(one, other) for one in full for other in full])
    except Exception as fault:
        return None, [describe_exception(fault)]
    contradicted = judged[:, 0].reshape(len(said), len(said)) / MILLION
    found = np.zeros((len(texts), len(texts)))
    found[np.ix_(said, said)] = (contradicted + contradicted.T) / 2
    np.fill_diagonal(found, 0.0)
    return found, []


def is_brief(text: ParsedText) -> bool:
    """
    >>> [is_brief(ParsedText(text)) for text in ("Rugby.", "", "!" * 900, "rugby " * 80)]
    [True, False, False, False]
    """
    return 0 < len(text.words) < MAX_SAID and len(text.clean) <= MAX_LETTERS


def measure_denials(
    texts: Sequence[ParsedText],
    compared: Sequence[int],
    similarity: NDArray[np.int32],
    vectors: TextVectors,
    entailment: Entailment,
) -> tuple[NDArray[np.float64] | None, list[str]]:
    """How much more each of the `compared` answers is denied than the median one, from 0 to 1; 0 for all others."""
    if not MIN_OTHERS < len(compared) <= MAX_COMPARED:
        return None, []
    sentences = [sentence for number in compared for sentence in list_sentences(number, texts[number])]
    held = choose_pairs(sentences, similarity, vectors)
    if not held:
        return None, []
    try:
        judged = entailment.judge([(sentences[other].text, sentences[own].text) for own, other in held]) / MILLION
    except Exception as fault:
        return None, [describe_exception(fault)]
    upheld: dict[int, list[float]] = {number: [] for number in compared}
    for (own, _), (denied, _, affirmed) in zip(held, judged.reshape(-1, 3).tolist(), strict=True):
        upheld[sentences[own].answer].append(affirmed - denied)
    means = {number: sum(rows) / len(rows) for number, rows in upheld.items() if rows}
    found = np.zeros(len(texts))
    if len(means) > MIN_OTHERS:
        typical = median(means.values())
        for number, mean in means.items():
            found[number] = round(min(1.0, max(0.0, typical - mean)), 6)
    return found, []


def list_sentences(number: int, text: ParsedText) -> list[Sentence]:
    """
    >>> list_sentences(3, ParsedText("Tides come from the Moon. Yes. The Sun adds a third."))
    [Sentence(answer=3, text='Tides come from the Moon.'), Sentence(answer=3, text='The Sun adds a third.')]
    """
    return [Sentence(number, one) for one in text.sentences if is_comparable(one)][:MAX_SENTENCES]


def is_comparable(sentence: str) -> bool:
    """
    >>> [is_comparable(text) for text in ("Tides come from the Moon.", "Yes.", "So it is " + "! " * 90, "x " * 500)]
    [True, False, False, False]
    """
    words = len(sentence.split())
    tokens = words + count_signs(sentence)
    return words >= MIN_SENTENCE_WORDS and tokens <= MAX_SENTENCE_TOKENS and len(sentence) <= MAX_SENTENCE_LETTERS


def choose_pairs(
    sentences: Sequence[Sentence], similarity: NDArray[np.int32], vectors: TextVectors
) -> list[tuple[int, int]]:
    """Pairs of sentence numbers (of an answer, of another): the answer's sentences that are nearest to any other's,
    each with the nearest sentence of those answers that are nearest to it."""
    if not sentences:
        return []
    plain = [sentence.text for sentence in sentences]
    cosines = vectors.compare(plain, plain)
    owner = np.array([sentence.answer for sentence in sentences])
    answers = sorted(set(owner.tolist()))
    pairs: list[tuple[int, int]] = []
    for answer in answers:
        own = np.flatnonzero(owner == answer)
        others = [np.flatnonzero(owner == other) for other in answers if other != answer]
        others = [rows for rows in others if similarity[answer, owner[rows[0]]] < SAME]
        if not others:
            continue
        best = np.array([rows[cosines[np.ix_(own, rows)].argmax(axis=1)] for rows in others])
        near = cosines[own[None, :], best]
        for column in np.argsort(-near.max(axis=0), kind="stable")[:READ].tolist():
            nearest = np.argsort(-near[:, column], kind="stable")[:NEAREST]
            pairs += [(int(own[column]), int(best[row, column])) for row in nearest.tolist()]
    return pairs
