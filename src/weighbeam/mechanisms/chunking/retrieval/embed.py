"""Embed chunks whole, however much of a text an embedder reads, and compare them with questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.quantise import MILLION, unit_millionths
from weighbeam.mechanism.embed import embed_texts
from weighbeam.mechanisms.chunking.segments import squeeze
from weighbeam.senses.ports.protocols import Embedder

WINDOW_BYTES = 768
"""Of UTF-8: within the 256 word pieces that the default embedder reads, for prose and for scripts without spaces."""


def split_windows(text: str, limit: int = WINDOW_BYTES) -> list[str]:
    """A text in as few parts of about equal length as the limit allows, cut at blanks where there are any; a part may
    exceed the limit by a word.

    >>> split_windows("one two three four", 10)
    ['one two', 'three four']
    """
    clean = squeeze(text)
    points = np.frombuffer(clean.encode("utf-32-le"), dtype=np.uint32)
    sizes = np.cumsum(1 + (points >= 0x80) + (points >= 0x800) + (points >= 0x10000))
    total = int(sizes[-1]) if len(sizes) else 0
    parts = max(1, -(-total // limit))
    goals = (np.searchsorted(sizes, [total * part / parts for part in range(1, parts)]) + 1).tolist()
    cuts = [0]
    for goal in goals:
        blank = clean.rfind(" ", cuts[-1] + 1, goal + 1)
        cuts.append(blank if blank > 0 else max(goal, cuts[-1]))
    return [clean[start:end].strip() for start, end in pairwise([*cuts, len(clean)]) if start < end] or [clean]


@dataclass(frozen=True, slots=True)
class QuestionSimilarities:
    """Similarities [texts, questions] in millionths, the texts and questions that our embedder failed on, and how."""

    similarities: NDArray[np.int32]
    missing_texts: tuple[int, ...]
    missing_questions: tuple[int, ...]
    faults: tuple[str, ...]


def compare_texts(texts: Sequence[str], questions: Sequence[str], embedder: Embedder) -> QuestionSimilarities:
    """Cosines of every text with every question; each distinct window is embedded once."""
    chunks, no_chunk, chunk_faults = embed_whole(texts, embedder)
    asked, no_question, question_faults = embed_whole(questions, embedder)
    # Sums of products of integers below 2⁵³ are exact, so the result does not depend on a machine's way to add.
    products = chunks.astype(np.int64) @ asked.astype(np.int64).T
    similarities = np.rint(products / MILLION).clip(-MILLION, MILLION).astype(np.int32)
    faults = tuple(sorted({*chunk_faults, *question_faults}))
    return QuestionSimilarities(similarities, no_chunk, no_question, faults)


def embed_whole(texts: Sequence[str], embedder: Embedder) -> tuple[NDArray[np.int32], tuple[int, ...], list[str]]:
    """Unit vectors in millionths: of a long text, the mean of its windows' vectors by their length."""
    split = [split_windows(text) for text in texts]
    windows = list(dict.fromkeys(window for row in split for window in row))
    vectors, missing, faults = embed_texts(windows, embedder)
    lost = {windows[place] for place in missing}
    row_of = {window: row for row, window in enumerate(windows)}
    whole = np.zeros((len(texts), embedder.dimensions), dtype=np.float64)
    for place, row in enumerate(split):
        weights = np.array([len(window) for window in row], dtype=np.int64)
        whole[place] = weights @ vectors[[row_of[window] for window in row]].astype(np.int64)
    unread = tuple(place for place, row in enumerate(split) if not lost.isdisjoint(row))
    return unit_millionths(whole), unread, faults
