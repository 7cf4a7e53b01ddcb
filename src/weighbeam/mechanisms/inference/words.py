"""Clean text, words, sentences, stems (spec §§ 3, 4, 8)."""

import re
import unicodedata
from typing import Literal, TypeAlias

from weighbeam.core.nfc import to_nfkc
from weighbeam.mechanisms.inference.word_lists import FILLER_WORDS, FUNCTION_WORDS

Polarity: TypeAlias = Literal["yes", "no"] | None

UNICODE_VERSION = unicodedata.unidata_version
MOST_SENTENCES = 64
STEM = 6

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
BREAK = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+|(?<=[.!?。！？])\s+")
YES = frozenset("yes yeah yep correct true affirmative".split())
NO = frozenset("no nope incorrect false negative".split())


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


def take_stem(word: str) -> str:
    return word[:STEM]


def has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)


def is_content(word: str) -> bool:
    """Does a lower-case word carry meaning of its own?

    >>> [word for word in ("the", "sky", "4", "is", "thing") if is_content(word)]
    ['sky', '4']
    """
    return has_digit(word) or (len(word) >= 3 and word not in FUNCTION_WORDS and word not in FILLER_WORDS)


def label_polarity(words: list[str]) -> Polarity:
    """What the first word of an answer says to a question of yes or no.

    >>> label_polarity(["yes", "but"]), label_polarity(["perhaps"]), label_polarity([])
    ('yes', None, None)
    """
    first = words[0] if words else ""
    if first in YES:
        return "yes"
    return "no" if first in NO else None
