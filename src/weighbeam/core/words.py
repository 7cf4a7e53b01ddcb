"""Clean text, its words and its sentences, as the mechanisms that judge prose read them (spec/inference.md § 3)."""

import re
import unicodedata

from weighbeam.core.nfc import to_nfkc

UNICODE_VERSION = unicodedata.unidata_version
MOST_SENTENCES = 64

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
BREAK = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+|(?<=[.!?。！？])\s+")


def clean_text(text: str) -> str:
    """NFKC, then without characters of category Cf.

    >>> clean_text("ﬁ\\u200bne")
    'fine'
    """
    if text.isascii():
        return text
    return "".join(c for c in to_nfkc(text) if c.isascii() or unicodedata.category(c) != "Cf")


def find_words(clean: str) -> list[str]:
    """The words of a clean text in lower case; a hyphen separates.

    >>> find_words("Don't re-use 450 nm_")
    ["don't", 're', 'use', '450', 'nm']
    """
    return WORD.findall(clean.lower())


def find_cased_words(clean: str) -> list[str]:
    """The words of a clean text as they are written."""
    return WORD.findall(clean)


def split_sentences(clean: str) -> list[str]:
    """The first 64 sentences of two words or more; of a text that has none, the whole.

    >>> split_sentences("1. It is so. Really?\\nIt is"), split_sentences("Paris."), split_sentences("…")
    (['It is so.', 'It is'], ['Paris.'], [])
    """
    pieces = (piece.strip() for piece in BREAK.split(clean))
    found = [piece for piece in pieces if len(find_words(piece)) >= 2]
    if not found and WORD.search(clean.lower()):
        return [clean.strip()]
    return found[:MOST_SENTENCES]
