"""Describe where an answer left the document: the word, its surroundings, and the document's text at that place."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from weighbeam.mechanisms.chunking.check import ReferenceDocument
from weighbeam.mechanisms.chunking.words import split_words

AROUND = 40

MEANINGS = {
    "no_chunks": "no chunk arrived",
    "malformed": "the answer is not a list of strings",
    "too_large": "the answer is far larger than the document",
    "new_words": "these words do not follow each other in the document",
    "out_of_order": "this chunk lies before the one that precedes it",
    "missing_words": "these words of the document are in no chunk",
    "not_tiling": "the chunks do not repeat the document word by word",
}


@dataclass(frozen=True, slots=True)
class FailureDescription:
    """A failure in words. `before`, `text`, `after` surround the word in the chunk or the document."""

    code: str
    meaning: str
    chunk: int | None
    word: int | None
    at: int | None
    where: str | None = None
    before: str | None = None
    text: str | None = None
    after: str | None = None
    document_has: str | None = None
    document_at: int | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def describe_failure(check: Mapping[str, Any], chunks: list[str] | None, text: str | None) -> FailureDescription:
    """The failure of a recorded check; `chunks` and the document's `text` may be gone."""
    code, at, index = check["failure"], check["at"], check["chunk"]
    bare = FailureDescription(code, MEANINGS[code], index, check["word"], at, text=check["text"])
    if at is None or text is None or chunks is None:
        return bare
    if code in ("missing_words", "not_tiling"):
        return _surround(bare, "document", text, (check["text"] or "").count(" ") + 1)
    document = ReferenceDocument(text)
    has, has_at = _instead(document, chunks, index, check["word"], code)
    found = _surround(bare, f"chunk {index}", chunks[index], 1)
    return FailureDescription(**{**asdict(found), "document_has": has, "document_at": has_at})


def _surround(bare: FailureDescription, where: str, source: str, words: int) -> FailureDescription:
    """The failing words as they stand in the source, and what stands around them."""
    at = bare.at or 0
    ends = split_words(source).ends
    last = (bare.word or 0) + words - 1
    stop = ends[min(last, len(ends) - 1)] if at < len(source) else at
    around = {
        "where": where,
        "before": source[max(0, at - AROUND) : at],
        "text": source[at:stop] or None,
        "after": source[stop : stop + AROUND],
    }
    return FailureDescription(**{**asdict(bare), **around})


def _instead(
    document: ReferenceDocument, chunks: list[str], index: int, word: int, code: str
) -> tuple[str | None, int | None]:
    """The document's text after the last matching words, and its place."""
    pieces = document.read(chunks)
    agreed = pieces[index].letters[:word] if code == "new_words" else pieces[index].letters
    resume = 0
    for piece in pieces[:index]:
        resume = max(resume, document.letters.find(piece.letters, resume))
    first = document.letters.find(agreed, resume)
    if first < 0:
        first = document.letters.find(agreed)
    next_word = first + (len(agreed) if code == "new_words" else 0)
    if next_word >= len(document.words):
        return None, len(document.text)
    at = document.words.starts[next_word]
    return document.text[at : at + AROUND], at
