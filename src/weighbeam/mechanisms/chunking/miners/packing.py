"""Pack whole sentences or paragraphs into chunks, losing no character."""

import re
from collections.abc import Sequence

from weighbeam.mechanisms.chunking.segments import locate_sentences
from weighbeam.mechanisms.chunking.words import split_words
from weighbeam.senses.ports.protocols import Senses

SPLITTER = "adaptive"
PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")


def pack_sentences(document: str, chunk_size: int, chunk_qty: int, senses: Senses) -> list[str]:
    return cut_at(document, pack(sentence_starts(document, senses), document, chunk_size))


def pack_paragraphs(document: str, chunk_size: int, chunk_qty: int, senses: Senses) -> list[str]:
    starts = [0, *(match.end() for match in PARAGRAPH.finditer(document) if match.end() < len(document))]
    return cut_at(document, pack(starts, document, chunk_size))


def sentence_starts(document: str, senses: Senses) -> list[int]:
    """Where each sentence begins, the first at 0."""
    return locate_sentences(document, senses.sentences(SPLITTER).split(document))


def pack(starts: Sequence[int], document: str, chunk_size: int) -> list[int]:
    """The starts at which a new chunk must begin so that none grows over `chunk_size` if it can be helped.

    >>> pack([0, 4, 8, 12], "aaa bbb ccc ddd", 8)
    [0, 8]
    """
    cuts = [0]
    ends = [*starts[1:], len(document)]
    for start, end in zip(starts, ends, strict=True):
        if start > cuts[-1] and end - cuts[-1] > chunk_size:
            cuts.append(start)
        if end - start > chunk_size:
            cuts.extend(_cut_long(document, start, end, chunk_size))
    return cuts


def _cut_long(document: str, start: int, end: int, chunk_size: int) -> list[int]:
    """Cuts between words inside a sentence that is longer than a chunk may be."""
    cuts: list[int] = []
    last = start
    begins = [start + begin for begin in split_words(document[start:end]).starts]
    for begin, following in zip(begins, [*begins[1:], end], strict=True):
        # A piece reaches to the next cut, so the white space after its last word counts as the chunk's.
        if following - last > chunk_size and begin > last:
            last = begin
            cuts.append(last)
    return cuts


def cut_at(document: str, cuts: Sequence[int]) -> list[str]:
    """The pieces of a document between cuts; joined, they are the document."""
    return [document[a:b] for a, b in zip(cuts, [*cuts[1:], len(document)], strict=True)]
