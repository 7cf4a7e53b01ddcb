"""Measure a contribution: check the text, cut it into pieces, embed them, describe how it looks.

A piece has at most `piece_words` tokens between white space, and never more than the embedder reads of a text: what it
would leave unread could be anything. A token of more than a hundred characters is read in parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.canonical import digest_text
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.text import clean_text, split_sentences
from weighbeam.mechanisms.novelty.compare import ReadText, read_text
from weighbeam.mechanisms.novelty.identity import digest_form, find_control, normalise_embedded
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.plausibility import TextLook, count_words, find_doubts, list_spelt, look_at
from weighbeam.mechanisms.novelty.spelling import normalise_spelling
from weighbeam.senses.ports.protocols import Senses, WordPieces

LONGEST_TOKEN = 100
MAX_UNDONE = 20_000
MAX_PIECES = 96
"""Ordinary text of 20,000 characters has half as many."""


def split_tokens(text: str) -> list[str]:
    """Split at white space, into tokens no longer than an embedder's longest word.

    >>> [len(token) for token in split_tokens("ab " + "x" * 250)]
    [2, 100, 100, 50]
    """
    return [
        token[start : start + LONGEST_TOKEN] for token in text.split() for start in range(0, len(token), LONGEST_TOKEN)
    ]


def cut_tokens(text: str, tokens: Sequence[str], counts: Sequence[int], size: int, room: int) -> list[str]:
    """The pieces of a text of `tokens` with `counts` word pieces each: at most `size` tokens and `room` word pieces in
    one, half of it in the next.

    >>> cut_tokens("a b c d e f g", list("abcdefg"), [1] * 7, 4, 100)
    ['a b c d', 'c d e f', 'e f g']
    >>> cut_tokens("as  it is", ["as", "it", "is"], [1, 1, 1], 4, 100)
    ['as  it is']
    """
    if len(tokens) <= size and sum(counts) <= room and len(tokens) == len(text.split()):
        return [text]
    return [" ".join(tokens[start:stop]) for start, stop in find_windows(counts, size, room)]


def find_windows(counts: Sequence[int], size: int, room: int) -> list[tuple[int, int]]:
    """Where pieces begin and end; a token that alone has more than `room` stands alone.

    >>> find_windows([1] * 7, 4, 9), find_windows([1, 1, 2, 1], 4, 3), find_windows([9, 1, 1], 4, 2)
    ([(0, 4), (2, 6), (4, 7)], [(0, 2), (1, 3), (2, 4)], [(0, 1), (1, 3)])
    """
    windows: list[tuple[int, int]] = []
    start = reached = 0
    while reached < len(counts):
        stop, held = start + 1, counts[start]
        while stop < len(counts) and stop - start < size and held + counts[stop] <= room:
            held += counts[stop]
            stop += 1
        if stop > reached:
            windows.append((start, stop))
            reached = stop
        start += max(1, (stop - start) // 2)
    return windows


def parse_text(text: object, params: NoveltyParams) -> str:
    """The text as it is embedded; refused if it is none, too short, too long or not clean."""
    refusal = find_refusal(text, params)
    if refusal is not None:
        raise refusal
    return normalise_embedded(str(text))


def find_refusal(text: object, params: NoveltyParams) -> WeighbeamError | None:
    """Why a text cannot be taken, if it cannot."""
    if not isinstance(text, str):
        return WeighbeamError("bad_text", "a contribution is not text", "give a string")
    if len(text) > params.max_chars:
        return _too_long(len(text), params)
    control = find_control(text)
    if control is not None:
        told = f"it holds the character U+{ord(control):04X}"
        return WeighbeamError("bad_text", told, "send plain text without control characters")
    embedded = normalise_embedded(text)
    if len(embedded) > params.max_chars:
        return _too_long(len(embedded), params)
    words = count_words(embedded)
    if words < params.min_words:
        told = f"it has {words} words, {params.min_words} are needed"
        return WeighbeamError("too_short", told, "say more")
    return None


def _too_long(length: int, params: NoveltyParams) -> WeighbeamError:
    told = f"it has {length} characters, at most {params.max_chars} are taken"
    return WeighbeamError("too_long", told, "contribute it in parts")


@dataclass(frozen=True, slots=True)
class MeasuredText:
    """A text that can be taken: by which hashes it is known, its rows in millionths, and its look. The last rows are
    those of its sentences, with so many words each; `read` is the text for the second look."""

    text: str
    text_sha256: str
    form: str
    vectors: NDArray[np.int32]
    look: TextLook
    sentences: tuple[int, ...] = ()
    read: ReadText | None = None

    @property
    def windows(self) -> NDArray[np.int32]:
        """The rows of the text itself, by which the nearest is found."""
        return self.vectors[: len(self.vectors) - len(self.sentences)]

    @property
    def sentence_rows(self) -> list[NDArray[np.int32]]:
        first = len(self.vectors) - len(self.sentences)
        return [self.vectors[place : place + 1] for place in range(first, len(self.vectors))]

    @property
    def doubts(self) -> tuple[str, ...]:
        return find_doubts(self.look)


@dataclass(frozen=True, slots=True)
class PreparedText:
    """A text before any model has seen it: what it looks like, and the pieces to embed."""

    text: str
    look: TextLook
    pieces: tuple[str, ...]
    sentences: tuple[str, ...] = ()
    read: ReadText | None = None


def measure_text(text: object, params: NoveltyParams, senses: Senses) -> MeasuredText:
    """Refused if the text cannot be taken; what a sense cannot do is raised as it is."""
    (measured,) = measure_texts([text], params, senses)
    return measured


def measure_texts(texts: Sequence[object], params: NoveltyParams, senses: Senses) -> list[MeasuredText]:
    """Many at once, which an embedder does in less time; refused if one of them cannot be taken."""
    read = [prepare_text(text, params, senses.word_pieces) for text in texts]
    rows = senses.embedder.embed([piece for one in read for piece in (*one.pieces, *one.sentences)])
    ends = np.cumsum([len(one.pieces) + len(one.sentences) for one in read])[:-1]
    return [
        MeasuredText(
            one.text,
            digest_text(one.text),
            digest_form(one.text),
            vectors,
            one.look,
            tuple(max(1, len(sentence.split())) for sentence in one.sentences),
            one.read,
        )
        for one, vectors in zip(read, np.split(rows, ends), strict=True)
    ]


def prepare_text(text: object, params: NoveltyParams, pieces: WordPieces) -> PreparedText:
    """Pieces of a text to embed; refused if it is invalid or, where the gate denies, implausible."""
    embedded = parse_text(text, params)
    tokens = split_tokens(embedded)
    cut = pieces.cut(tokens)
    spelt = pieces.cut(list_spelt(clean_text(embedded)))
    look = look_at(embedded, [piece for one in cut for piece in one], pieces.unknown, params.prose, spelt)
    doubts = find_doubts(look)
    if doubts and params.gate == "deny":
        told = f"it does not read as plausible text: {', '.join(doubts)}"
        raise WeighbeamError("implausible", told, "write plain sentences")
    compared = read_embedded(embedded, params)
    if compared != embedded:
        tokens = split_tokens(compared)
        cut = pieces.cut(tokens)
    found = cut_tokens(compared, tokens, [len(one) for one in cut], params.piece_words, pieces.window)
    if len(found) > MAX_PIECES:
        told = f"it is compared in {len(found)} pieces, at most {MAX_PIECES} are taken"
        raise WeighbeamError("too_long", told, "contribute it in parts")
    sentences = tuple(split_sentences(compared)) if params.parts else ()
    read = read_text(compared) if params.wants_facts else None
    return PreparedText(str(text), look, tuple(found), sentences if len(sentences) > 1 else (), read)


def read_embedded(embedded: str, params: NoveltyParams) -> str:
    """The text that is compared: with its spelling undone, unless only the cosine counts or nothing is left of it. An
    entity may stand for many characters: what it adds beyond 20,000 is left out, whatever `max_chars` says, so that a
    text reads the same under other parameters."""
    if not params.wants_facts:
        return embedded
    undone = normalise_spelling(embedded)[: max(MAX_UNDONE, len(embedded))]
    return undone if undone.strip() else embedded
