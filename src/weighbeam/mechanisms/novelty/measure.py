"""All that a model can say of a contribution: the vectors of its pieces and what the text looks like."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.canonical import digest_text
from weighbeam.mechanisms.novelty.identity import digest_form
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.pieces import cut_text
from weighbeam.mechanisms.novelty.plausible import Look, find_doubts, look_at
from weighbeam.mechanisms.novelty.read_text import read_text
from weighbeam.senses.ports import Senses, WordPieces


@dataclass(frozen=True, slots=True)
class Measured:
    """A text that can be taken: by which hashes it is known, its rows in millionths, and its look."""

    text: str
    text_sha256: str
    form: str
    vectors: NDArray[np.int32]
    look: Look

    @property
    def doubts(self) -> tuple[str, ...]:
        return find_doubts(self.look)


def measure_text(text: object, params: NoveltyParams, senses: Senses) -> Measured:
    """Refused if the text cannot be taken; what a sense cannot do is raised as it is."""
    (measured,) = measure_texts([text], params, senses)
    return measured


def measure_texts(texts: Sequence[object], params: NoveltyParams, senses: Senses) -> list[Measured]:
    """Many at once, which an embedder does in less time; refused if one of them cannot be taken."""
    embedded = [read_text(text, params) for text in texts]
    pieces = [cut_text(text, params.piece_words, lambda parts: _fit(parts, senses.word_pieces)) for text in embedded]
    looks = [
        look_at(text, whole, params.prose)
        for text, whole in zip(embedded, senses.word_pieces.cut(embedded), strict=True)
    ]
    rows = senses.embedder.embed([piece for one in pieces for piece in one])
    ends = np.cumsum([len(one) for one in pieces])[:-1]
    return [
        Measured(str(text), digest_text(str(text)), digest_form(str(text)), vectors, look)
        for text, vectors, look in zip(texts, np.split(rows, ends), looks, strict=True)
    ]


def _fit(parts: Sequence[str], pieces: WordPieces) -> list[bool]:
    return [len(found) <= pieces.window for found in pieces.cut(parts)]
