"""All that a model can say of a contribution: the vectors of its pieces and what the text looks like."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.canonical import digest_text
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.identity import digest_form
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.pieces import MOST_PIECES, cut_tokens, split_tokens
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


@dataclass(frozen=True, slots=True)
class Read:
    """A text before any model has seen it: what it looks like, and the pieces to embed."""

    text: str
    look: Look
    pieces: tuple[str, ...]


def measure_text(text: object, params: NoveltyParams, senses: Senses) -> Measured:
    """Refused if the text cannot be taken; what a sense cannot do is raised as it is."""
    (measured,) = measure_texts([text], params, senses)
    return measured


def measure_texts(texts: Sequence[object], params: NoveltyParams, senses: Senses) -> list[Measured]:
    """Many at once, which an embedder does in less time; refused if one of them cannot be taken."""
    read = [read_pieces(text, params, senses.word_pieces) for text in texts]
    rows = senses.embedder.embed([piece for one in read for piece in one.pieces])
    ends = np.cumsum([len(one.pieces) for one in read])[:-1]
    return [
        Measured(one.text, digest_text(one.text), digest_form(one.text), vectors, one.look)
        for one, vectors in zip(read, np.split(rows, ends), strict=True)
    ]


def read_pieces(text: object, params: NoveltyParams, pieces: WordPieces) -> Read:
    """What is to be embedded of a text; refused if it cannot be taken, or, where the gate denies, is implausible."""
    embedded = read_text(text, params)
    tokens = split_tokens(embedded)
    cut = pieces.cut(tokens)
    look = look_at(embedded, [piece for one in cut for piece in one], pieces.unknown, params.prose)
    doubts = find_doubts(look)
    if doubts and params.gate == "deny":
        told = f"it does not read as plausible text: {', '.join(doubts)}"
        raise WeighbeamError("implausible", told, "write plain sentences")
    found = cut_tokens(embedded, tokens, [len(one) for one in cut], params.piece_words, pieces.window)
    if len(found) > MOST_PIECES:
        told = f"it is compared in {len(found)} pieces, at most {MOST_PIECES} are taken"
        raise WeighbeamError("too_long", told, "contribute it in parts")
    return Read(str(text), look, tuple(found))
