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
    embedded = read_text(text, params)
    pieces = cut_text(embedded, params.piece_words, lambda parts: _fit(parts, senses.word_pieces))
    (whole,) = senses.word_pieces.cut([embedded])
    look = look_at(embedded, whole, params.prose)
    vectors = senses.embedder.embed(pieces)
    return Measured(str(text), digest_text(str(text)), digest_form(str(text)), vectors, look)


def _fit(parts: Sequence[str], pieces: WordPieces) -> list[bool]:
    return [len(found) <= pieces.window for found in pieces.cut(parts)]
