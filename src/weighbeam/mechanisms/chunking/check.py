"""Check that chunks are the document and locate each one in it (spec § 3)."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from weighbeam.core.errors import require
from weighbeam.core.text import has_lone_surrogate
from weighbeam.mechanisms.chunking.params import ANSWER_SLACK, MAX_DOCUMENT, ChunkingParams
from weighbeam.mechanisms.chunking.segments import squeeze
from weighbeam.mechanisms.chunking.words import Words, split_words

Failure = Literal["no_chunks", "malformed", "too_large", "new_words", "out_of_order", "missing_words", "not_tiling"]
Span = tuple[int, int]
READ_AHEAD = 64


@dataclass(frozen=True, slots=True)
class ChunkingCheck:
    """The verdict on one answer: where it failed, or where each of its chunks lies in the document."""

    failure: Failure | None = None
    chunk: int | None = None
    word: int | None = None
    at: int | None = None
    text: str | None = None
    tiled: bool | None = None
    lossless: bool | None = None
    spans: tuple[Span | None, ...] | None = None
    exact: tuple[bool, ...] | None = None

    @property
    def ok(self) -> bool:
        return self.failure is None

    def as_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "failure": self.failure,
            "chunk": self.chunk,
            "word": self.word,
            "at": self.at,
            "text": self.text,
            "tiled": self.tiled,
            "lossless": self.lossless,
            "spans": None if self.spans is None else [span and list(span) for span in self.spans],
            "exact": None if self.exact is None else list(self.exact),
        }


@dataclass(frozen=True, slots=True)
class ChunkWords:
    """One chunk in the document's alphabet; its words lie in [start, end) of its text.

    `found` is where the chunk stands in the document, if it was found so: a hint for reading the next.
    """

    text: str
    letters: str
    start: int
    end: int
    found: Span | None = None


class ReferenceDocument:
    """A document prepared once per round, against which any number of answers are checked."""

    def __init__(self, text: object) -> None:
        require(isinstance(text, str), "bad_document", "the document is not a string", "give it as text")
        assert isinstance(text, str)
        require(
            len(text) <= MAX_DOCUMENT,
            "bad_document",
            f"the document has {len(text):,} characters",
            f"give at most {MAX_DOCUMENT:,}; split it first",
        )
        require(
            not has_lone_surrogate(text),
            "bad_document",
            "the document holds a lone surrogate, which is not a character",
            "decode it as UTF-8 first",
        )
        self.text = text
        self.words = split_words(text)
        require(len(self.words) > 0, "empty_document", "the document has no word", "give a text with words")
        self.alphabet = {form: chr(i) for i, form in enumerate(dict.fromkeys(self.words.forms))}
        self.stranger = chr(len(self.alphabet))
        self.letters = "".join(map(self.alphabet.__getitem__, self.words.forms))
        self._pieces: dict[str, ChunkWords] = {}

    def read(self, chunks: Sequence[str]) -> list[ChunkWords]:
        """The chunks of an answer in the document's alphabet; each distinct chunk is tokenised once.

        A text that stands in the document twice may be remembered from its other place, and one that is not found has
        none: then the next chunk is looked for behind as many characters as this one has.
        """
        pieces: list[ChunkWords] = []
        low = high = 0
        for chunk in chunks:
            piece = self._pieces.get(chunk)
            if piece is None:
                piece = self._pieces[chunk] = self._parse_near(chunk, low, high) or self._parse_words(chunk)
            if piece.found is not None and abs(piece.found[0] - high) <= len(chunk) + READ_AHEAD:
                low, high = piece.found
            else:
                high += len(chunk)
            pieces.append(piece)
        return pieces

    def _parse_words(self, chunk: str) -> ChunkWords:
        words = split_words(chunk)
        if not words:
            return ChunkWords(chunk, "", 0, 0)
        letters = "".join(self.alphabet.get(form, self.stranger) for form in words.forms)
        return ChunkWords(chunk, letters, words.starts[0], words.ends[-1])

    def _parse_near(self, chunk: str, low: int, high: int) -> ChunkWords | None:
        """A chunk cut between words out of the document has the document's words there, whatever its white space.

        Looked for only around the end of the chunk before, as far as the chunk is long, so that all of an answer's
        chunks together cost no more than its length.
        """
        core = chunk.strip()
        if not core:
            return None
        found = _find_words(self.words, core, low, high)
        if found is None:
            firsts = (bisect_left(self.words.starts, offset) for offset in (low, high))
            near = (
                self._squeezed.starts[first] if first < len(self.words) else len(self._squeezed.text)
                for first in firsts
            )
            found = _find_words(self._squeezed, squeeze(core), *near)
        if found is None:
            return None
        first, last = found
        start = len(chunk) - len(chunk.lstrip())
        at = self.words.starts[first], self.words.ends[last - 1]
        return ChunkWords(chunk, self.letters[first:last], start, start + len(core), at)

    @cached_property
    def _squeezed(self) -> Words:
        """The same words with one space for each run of white space, to find chunks that changed no more than that."""
        return split_words(squeeze(self.text))

    def check(self, chunks: object, chunk_size: int, params: ChunkingParams) -> ChunkingCheck:
        """The first fail state of an answer, or its spans."""
        malformed = _check_form(chunks)
        if malformed is not None:
            return malformed
        assert isinstance(chunks, (list, tuple))
        size = sum(len(chunk) + 1 for chunk in chunks)
        if size > params.answer_factor * (len(self.text) + ANSWER_SLACK):
            return ChunkingCheck("too_large")
        pieces = self.read(chunks)
        answer = "".join(piece.letters for piece in pieces)
        tiled = answer == self.letters
        placed = _lay(pieces) if tiled else self._place(pieces)
        if isinstance(placed, ChunkingCheck):
            return placed
        if not tiled:
            missing = self._miss_window(answer, chunk_size, params.window_words)
            if missing is None and params.strict:
                missing = self._differ(answer, pieces)
            if missing is not None:
                return missing
        spans, exact = self._span(pieces, placed)
        lossless = "".join(chunks) == self.text
        return ChunkingCheck(tiled=tiled, lossless=lossless, spans=spans, exact=exact)

    def _place(self, pieces: list[ChunkWords]) -> list[int | None] | ChunkingCheck:
        """The leftmost start of each chunk at or after the start of the one before."""
        placed: list[int | None] = []
        resume = 0
        for index, piece in enumerate(pieces):
            if not piece.letters:
                placed.append(None)
                continue
            start = self.letters.find(piece.letters, resume)
            if start < 0:
                return self._blame(index, piece)
            placed.append(start)
            resume = start
        return placed

    def _blame(self, index: int, piece: ChunkWords) -> ChunkingCheck:
        if piece.letters in self.letters:
            return _point("out_of_order", index, 0, piece)
        known = bisect_left(
            range(len(piece.letters)), True, key=lambda size: piece.letters[: size + 1] not in self.letters
        )
        return _point("new_words", index, known, piece)

    def _miss_window(self, answer: str, chunk_size: int, width: int) -> ChunkingCheck | None:
        """The first window of the document that the answer lacks and that is not exempt."""
        present = {answer[i : i + width] for i in range(len(answer) - width + 1)}
        for first in range(0, len(self.letters), width):
            window = self.letters[first : first + width]
            if window in present or (len(window) < width and window in answer):
                continue
            text = " ".join(self.words.forms[first : first + width])
            if len(text) < chunk_size:
                return ChunkingCheck("missing_words", None, first, self.words.starts[first], text)
        return None

    def _differ(self, answer: str, pieces: list[ChunkWords]) -> ChunkingCheck | None:
        """Where an answer that does not tile first leaves the document's words."""
        both = zip(answer, self.letters, strict=False)
        shorter = min(len(answer), len(self.letters))
        word = next((i for i, (got, want) in enumerate(both) if got != want), shorter)
        inside = word < len(self.words)
        return ChunkingCheck(
            "not_tiling",
            _chunk_of(word, pieces),
            word,
            self.words.starts[word] if inside else len(self.text),
            self.words.forms[word] if inside else None,
        )

    def _span(
        self, pieces: list[ChunkWords], placed: list[int | None]
    ) -> tuple[tuple[Span | None, ...], tuple[bool, ...]]:
        spans: list[Span | None] = []
        exact: list[bool] = []
        for piece, first in zip(pieces, placed, strict=True):
            if first is None:
                spans.append(None)
                exact.append(False)
                continue
            start, end = self.words.starts[first], self.words.ends[first + len(piece.letters) - 1]
            wide_start = start - piece.start
            wide_end = end + len(piece.text) - piece.end
            same = wide_start >= 0 and self.text[wide_start:wide_end] == piece.text
            spans.append((wide_start, wide_end) if same else (start, end))
            exact.append(same)
        return tuple(spans), tuple(exact)


def _find_words(words: Words, core: str, low: int, high: int) -> tuple[int, int] | None:
    """Which words of a text `core` is, if it stands there near `high` and not before `low`, cut between words."""
    reach = len(core) + READ_AHEAD
    found = words.text.find(core, max(low, high - reach), high + reach)
    if found < 0:
        return None
    stop = found + len(core)
    first, last = bisect_left(words.starts, found), bisect_left(words.starts, stop)
    if first == last or words.starts[first] != found or words.ends[last - 1] != stop:
        return None
    return first, last


def _check_form(chunks: object) -> ChunkingCheck | None:
    if chunks is None or (isinstance(chunks, (list, tuple)) and not chunks):
        return ChunkingCheck("no_chunks")
    if not isinstance(chunks, (list, tuple)):
        return ChunkingCheck("malformed")
    for index, chunk in enumerate(chunks):
        if not isinstance(chunk, str) or has_lone_surrogate(chunk):
            return ChunkingCheck("malformed", index)
    return None


def _point(failure: Failure, index: int, word: int, piece: ChunkWords) -> ChunkingCheck:
    words = split_words(piece.text)
    return ChunkingCheck(failure, index, word, words.starts[word], words.forms[word])


def _lay(pieces: list[ChunkWords]) -> list[int | None]:
    """Where a tiling puts each chunk."""
    placed: list[int | None] = []
    first = 0
    for piece in pieces:
        placed.append(first if piece.letters else None)
        first += len(piece.letters)
    return placed


def _chunk_of(word: int, pieces: list[ChunkWords]) -> int | None:
    """The chunk that holds the answer's word, or None past its end."""
    stop = 0
    for index, piece in enumerate(pieces):
        stop += len(piece.letters)
        if word < stop:
            return index
    return None
