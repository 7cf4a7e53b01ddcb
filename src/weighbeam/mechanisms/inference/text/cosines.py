"""Vectors of texts and the cosines between them, exact to the millionth (spec § 3).

A model reads about 190 words, so a text is read in runs of 160 and its vector is their mean. Of a crowded answer, one
with far more signs than words, only the words are embedded. Vectors are whole numbers
of millionths; their products stay below 2⁵³, so float64 adds them without rounding, in any order, on any machine.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.quantise import MILLION, unit_millionths
from weighbeam.core.text import find_cased_words
from weighbeam.mechanism.embed import embed_texts
from weighbeam.senses.ports.protocols import Embedder

RUN = 160


def cut_runs(clean: str, only_words: bool = False) -> list[tuple[str, int]]:
    """A text in runs of 160 white-space tokens, each with its number of tokens.

    >>> cut_runs(" two  words ")
    [('two words', 2)]
    >>> cut_runs("Signs + - = and words.", only_words=True)
    [('Signs and words', 3)]
    """
    tokens = find_cased_words(clean) if only_words else clean.split()
    runs = (tokens[first : first + RUN] for first in range(0, len(tokens), RUN))
    return [(" ".join(run), len(run)) for run in runs]


@dataclass(frozen=True, slots=True)
class TextVectors:
    """The vector of each text once, in millionths; `missing` are the texts our embedder failed on."""

    row_of: dict[str, int]
    rows: NDArray[np.float64]
    missing: frozenset[str]
    faults: tuple[str, ...]

    def compare(self, one: Sequence[str], other: Sequence[str]) -> NDArray[np.int32]:
        """Cosines in millionths, of every text of `one` with every text of `other`."""
        a, b = self._take(one), self._take(other)
        return _to_cosines(a @ b.T, _square(a)[:, None] * _square(b)[None, :])

    def compare_pairs(self, one: Sequence[str], other: Sequence[str]) -> NDArray[np.int32]:
        """Cosines in millionths, of each text of `one` with its partner in `other`."""
        a, b = self._take(one), self._take(other)
        return _to_cosines(np.add.reduce(a * b, axis=1), _square(a) * _square(b))

    def support(self, groups: Sequence[Sequence[str]]) -> NDArray[np.float64]:
        """Of each group's texts the mean of their best cosines among each other group's: how far it says the same."""
        found = np.zeros((len(groups), len(groups)))
        filled = [number for number, group in enumerate(groups) if group]
        if not filled:
            return found
        every = self._take([text for number in filled for text in groups[number]])
        squares = _square(every)
        squares[squares == 0] = 1.0
        ends = np.cumsum([len(groups[number]) for number in filled])
        starts = np.array([0, *ends[:-1]])
        for number, start, end in zip(filled, starts.tolist(), ends.tolist(), strict=True):
            cosines = every[start:end] @ every.T
            lengths = squares[start:end, None] * squares
            cosines /= np.sqrt(lengths, out=lengths)
            best = _round_cosines(np.maximum.reduceat(cosines, starts, axis=1))
            found[number, filled] = np.maximum(best, 0).sum(axis=0) / (len(groups[number]) * MILLION)
        return found

    def _take(self, texts: Sequence[str]) -> NDArray[np.float64]:
        return self.rows[[self.row_of[text] for text in texts]]


def embed_clean(texts: Iterable[str], embedder: Embedder, crowded: Collection[str] = frozenset()) -> TextVectors:
    """Vectors of clean texts; each distinct run is embedded once. Of those in `crowded`, only the words."""
    distinct = sorted({*texts, *crowded})
    runs = {text: cut_runs(text, text in crowded) for text in distinct}
    pieces = sorted({run for text in distinct for run, _ in runs[text]})
    vectors, missed, faults = embed_texts(pieces, embedder)
    place = {piece: number for number, piece in enumerate(pieces)}
    lost = {pieces[number] for number in missed}
    sums = np.zeros((len(distinct), embedder.dimensions))
    for number, text in enumerate(distinct):
        for run, tokens in runs[text]:
            sums[number] += tokens * vectors[place[run]].astype(np.float64)
    missing = frozenset(text for text in distinct if any(run in lost for run, _ in runs[text]))
    rows = unit_millionths(sums).astype(np.float64)
    return TextVectors({text: number for number, text in enumerate(distinct)}, rows, missing, tuple(faults))


def _square(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    squares: NDArray[np.float64] = np.add.reduce(rows * rows, axis=1)
    return squares


def _to_cosines(products: NDArray[np.float64], squares: NDArray[np.float64]) -> NDArray[np.int32]:
    """Clipped to [−1, 1] and rounded; a text without a vector has cosine 0."""
    lengths = np.sqrt(squares)
    return _round_cosines(products / np.where(lengths > 0, lengths, 1.0))


def _round_cosines(cosines: NDArray[np.float64]) -> NDArray[np.int32]:
    return np.rint(np.clip(cosines, -1.0, 1.0) * MILLION).astype(np.int32)
