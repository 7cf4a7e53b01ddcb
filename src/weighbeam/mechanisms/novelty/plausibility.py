"""Plausibility of a text: numbers that tell prose from random letters (spec § 5)."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from weighbeam.core.language import count_makeup, judge_language
from weighbeam.core.text import clean_text, find_words

MAX_PIECES_PER_WORD = 3
MIN_LETTERS = 0.5
MAX_SAME = 0.4
MAX_UNKNOWN = 0.1
MIN_LANGUAGE = 0.3


@dataclass(frozen=True, slots=True)
class TextLook:
    """What a text looks like, in numbers: `tokens` between white space, `pieces` of words as the embedder cuts them,
    `commonest` of them the same, `unknown` ones it cannot tell apart; `language` in millionths."""

    words: int
    tokens: int
    pieces: int
    commonest: int
    unknown: int
    letters: int
    characters: int
    language: int

    def as_json(self) -> dict[str, int]:
        return asdict(self)

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> "TextLook":
        return cls(**given)


def count_words(text: str) -> int:
    return len(find_words(clean_text(text)))


def look_at(text: str, pieces: Sequence[int], unknown: int, prose: bool) -> TextLook:
    """
    >>> look_at("The sky is blue.", [1, 2, 3, 4, 5], unknown=9, prose=True)
    TextLook(words=4, tokens=4, pieces=5, commonest=1, unknown=0, letters=12, characters=16, language=1000000)
    """
    made, counted = count_makeup(text), Counter(pieces)
    return TextLook(
        words=made.words,
        tokens=len(text.split()),
        pieces=len(pieces),
        commonest=max(counted.values(), default=0),
        unknown=counted[unknown],
        letters=sum(unicodedata.category(character).startswith("L") for character in text),
        characters=len(text),
        language=round(judge_language(made, prose).score * 1_000_000) if made.words else 0,
    )


def find_doubts(look: TextLook) -> tuple[str, ...]:
    """Why a text is implausible, all that apply; nothing if it is plausible.

    >>> find_doubts(TextLook(4, 4, 13, 6, 2, 5, 16, 0))
    ('word_salad', 'few_letters', 'repetition', 'unreadable', 'not_prose')
    """
    doubts = (
        ("word_salad", look.pieces > MAX_PIECES_PER_WORD * look.tokens),
        ("few_letters", look.letters < MIN_LETTERS * look.characters),
        ("repetition", look.commonest > MAX_SAME * look.pieces),
        ("unreadable", look.unknown > MAX_UNKNOWN * look.pieces),
        ("not_prose", look.language < MIN_LANGUAGE * 1_000_000),
    )
    return tuple(name for name, applies in doubts if applies)
