"""Are words in an order that people write? (docs/spec/inference.md § 18, novelty.md § 5)

A table says how much likelier than by chance one English word follows another; rare words count by their ending. A
text's neighbours are compared with what a random order of the same words of the same line would give: the difference
in standard deviations. Vocabulary and length cancel out, so shuffled words lie around 0, whatever they are.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TABLE = Path(__file__).with_name("word_order.npz")
STEP = 20
NUMBER, OTHER = "<number>", "<other>"
ENDINGS = (
    "ing tion ment ness ity ly ous ful able ible ive al ed est er ies es s ism ist ence ance ic y en".split()
)  # fmt: skip
LEAST_STEM = 3
PIECE = 60
"""Words of a line that are compared with each other, about."""

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
BREAK = re.compile(r"[.,;:!?()\[\]\"“”—–/|*#\n]+|\s-\s")


class OrderedWords:
    """From a word to its number in the table."""

    def __init__(self, names: Sequence[str]) -> None:
        self._numbers = {name: number for number, name in enumerate(names)}
        self._endings = [(ending, self._numbers[f"-{ending}"]) for ending in ENDINGS]

    def __len__(self) -> int:
        return len(self._numbers)

    def classify(self, words: Sequence[str]) -> NDArray[np.intp]:
        known = self._numbers
        return np.array([known[word] if word in known else self._find(word) for word in words], dtype=np.intp)

    def _find(self, word: str) -> int:
        if not word.isalpha() and any(character.isdigit() for character in word):
            return self._numbers[NUMBER]
        for ending, number in self._endings:
            if word.endswith(ending) and len(word) >= len(ending) + LEAST_STEM:
                return number
        return self._numbers[OTHER]


@dataclass(frozen=True, slots=True)
class WordOrder:
    """`pairs` of neighbours were compared; `z` is how far their order is from chance, `fit` their mean weight."""

    pairs: int
    z: float
    fit: float


def cut_phrases(text: str) -> list[list[str]]:
    """Words between signs, in small letters.

    >>> cut_phrases("It rains; we don’t mind.")
    [['it', 'rains'], ['we', "don't", 'mind'], []]
    """
    return [[word.replace("’", "'") for word in WORD.findall(part)] for part in BREAK.split(text.lower())]


def read_order(clean: str) -> WordOrder:
    vocabulary, table = _load()
    found = expected = spread = 0.0
    pairs = 0
    for piece in _cut_pieces(clean):
        phrases = [vocabulary.classify(phrase) for phrase in piece]
        words = np.concatenate(phrases)
        before = np.concatenate([phrase[:-1] for phrase in phrases])
        after = np.concatenate([phrase[1:] for phrase in phrases])
        if len(words) < 3 or not len(before):
            continue
        every = table[np.ix_(words, words)].astype(np.float64)
        own = np.diagonal(every)
        ordered = len(words) * (len(words) - 1)
        mean = (every.sum() - own.sum()) / ordered
        variance = ((every**2).sum() - (own**2).sum()) / ordered - mean**2
        found += float(table[before, after].sum(dtype=np.int64))
        expected += mean * len(before)
        spread += variance * len(before)
        pairs += len(before)
    if not pairs:
        return WordOrder(0, 0.0, 0.0)
    z = float(found - expected) / math.sqrt(spread) if spread > 1e-9 else 0.0
    return WordOrder(pairs, round(z, 6), round(found / STEP / pairs, 6))


def _cut_pieces(clean: str) -> Iterator[list[list[str]]]:
    """Phrases of one line, about 60 words of them at a time."""
    for line in clean.splitlines():
        piece: list[list[str]] = []
        size = 0
        runs = (phrase[at : at + PIECE] for phrase in cut_phrases(line) for at in range(0, len(phrase), PIECE))
        for run in runs:
            piece.append(run)
            size += len(run)
            if size >= PIECE:
                yield piece
                piece, size = [], 0
        if piece:
            yield piece


@cache
def _load() -> tuple[OrderedWords, NDArray[np.int8]]:
    with np.load(TABLE) as kept:
        return OrderedWords(kept["names"].tolist()), kept["table"]
