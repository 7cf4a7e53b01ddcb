"""Plausibility of a text: numbers that tell prose from random letters, made-up words and shuffled ones (spec § 5)."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from weighbeam.core.language import Language, TextMakeup, count_makeup, judge_language
from weighbeam.core.quantise import MILLION
from weighbeam.core.text import clean_text, find_cased_words
from weighbeam.core.word_order import WordOrder, read_order

MAX_PIECES_PER_WORD = 3
MIN_LETTERS = 0.5
MIN_LETTERS_OF_FORMULA, BINDING_WORDS = 0.25, 2
"""Share of letters that suffices for prose with enough function words: a question about code or mathematics."""
MAX_SAME = 0.4
MAX_UNKNOWN = 0.1
MIN_LANGUAGE = 0.3

TERSE_WORDS, MAX_PIECES_OF_TERSE = 8, 1.5
"""Prose needs one function word per this many words, or this many standard deviations of word order, in words that
the embedder knows."""
UNBOUND_WORDS = 10
"""This many words without a function word are a list of words: none of 1,021 real texts has as many."""
MIN_ORDER = -5.5
"""The sum of what neighbours weigh in the table of word order."""
LONG_PAIRS, MIN_ORDER_OF_LONG = 12, 0.3
MANY_PIECES = 3
MAX_SPLIT, SPARED_SPLIT = 0.25, 4
MAX_SPLIT_SMALL, SPARED_SPLIT_SMALL = 0.14, 6
"""Of words that the embedder reads in three pieces or more; few honest ones are, and most of those are names."""

UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\U00020000-\U000323af]"
)
"""Letters and signs of Thai, Lao, Burmese, Khmer, Japanese and Chinese, which put no spaces between words."""
MAX_WORD = 100
"""Letters of a word that an embedder reads as one."""


@dataclass(frozen=True, slots=True)
class Wording:
    """Statistics of a text's words: `spelt` pieces, `commonest` of them the same, `split` words of three pieces
    or more, `split_small` of them without a capital; `unspaced` letters; `flow` is how far words and sentences vary,
    `z` and `fit` how they follow each other over `pairs` of neighbours, in millionths. `prose`: held to English."""

    prose: bool
    spelt: int
    commonest: int
    split: int
    split_small: int
    function: int
    unspaced: int
    flow: int
    pairs: int
    z: int
    fit: int


@dataclass(frozen=True, slots=True)
class TextLook:
    """Statistics of a text: `tokens` between white space, `pieces` of words as the embedder cuts them,
    `commonest` of them the same, `unknown` ones it cannot tell apart; `language` in millionths. A look recorded without
    `wording` is judged by the rule of its time."""

    words: int
    tokens: int
    pieces: int
    commonest: int
    unknown: int
    letters: int
    characters: int
    language: int
    wording: Wording | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> "TextLook":
        wording = given.get("wording")
        return cls(**{**given, "wording": None if wording is None else Wording(**wording)})


def count_words(text: str) -> int:
    """Words between spaces, and letters of scripts that have none.

    >>> count_words("It is so."), count_words("引力使潮水上涨。"), count_words("ฝนตก"), count_words("C++ 与 Rust")
    (3, 7, 4, 3)
    """
    return len(list_spelt(clean_text(text)))


def list_spelt(clean: str) -> list[str]:
    """The words of a clean text as they are written, none longer than an embedder reads as one; an unspaced script has
    one for each letter.

    >>> list_spelt("Gravity 引力 pulls")
    ['Gravity', '引', '力', 'pulls']
    """
    spelt: list[str] = []
    for word in find_cased_words(UNSPACED.sub(r" \g<0> ", clean)):
        spelt += [word[start : start + MAX_WORD] for start in range(0, len(word), MAX_WORD)]
    return spelt


def look_at(
    text: str, pieces: Sequence[int], unknown: int, prose: bool, spelt: Sequence[Sequence[int]] | None = None
) -> TextLook:
    """`pieces` of the text, and of each word that `list_spelt` finds in it.

    >>> look = look_at("The sky is blue.", [1, 2, 3, 4, 5], unknown=9, prose=True, spelt=[[1], [2], [3], [4]])
    >>> look.words, look.letters, look.language, look.wording.function, look.wording.pairs
    (4, 12, 1000000, 2, 3)
    """
    made, counted = count_makeup(text), Counter(pieces)
    return TextLook(
        words=made.words,
        tokens=len(text.split()),
        pieces=len(pieces),
        commonest=max(counted.values(), default=0),
        unknown=counted[unknown],
        letters=sum(unicodedata.category(character)[0] in "LM" for character in text),
        characters=len(text),
        language=round(judge_language(made, prose).score * MILLION) if made.words else 0,
        wording=None if spelt is None else _look_at_words(text, made, spelt, unknown, prose),
    )


def _look_at_words(text: str, made: TextMakeup, spelt: Sequence[Sequence[int]], unknown: int, prose: bool) -> Wording:
    clean = clean_text(text)
    language = judge_language(made, prose) if made.words else Language(0.0, 0.0, 0.0)
    counted = Counter(piece for word in spelt for piece in word if piece != unknown)
    split = [word for word, cut in zip(list_spelt(clean), spelt, strict=True) if len(cut) >= MANY_PIECES]
    order = read_order(clean) if prose else WordOrder(0, 0.0, 0.0)
    return Wording(
        prose=prose,
        spelt=counted.total(),
        commonest=max(counted.values(), default=0),
        split=len(split),
        split_small=sum(word.islower() for word in split),
        function=made.function,
        unspaced=len(UNSPACED.findall(clean)),
        flow=round(language.variety * language.distinct * MILLION),
        pairs=order.pairs,
        z=round(order.z * MILLION),
        fit=round(order.fit * MILLION),
    )


def find_doubts(look: TextLook) -> tuple[str, ...]:
    """Why a text is implausible, all that apply; nothing if it is plausible.

    >>> find_doubts(TextLook(4, 4, 13, 6, 2, 5, 16, 0))
    ('word_salad', 'few_letters', 'repetition', 'unreadable', 'not_prose')
    """
    doubts = _list_first_doubts(look) if look.wording is None else _list_doubts(look, look.wording)
    return tuple(name for name, applies in doubts.items() if applies)


def _list_first_doubts(look: TextLook) -> dict[str, bool]:
    """The rule that looks without a wording were judged by."""
    return {
        "word_salad": look.pieces > MAX_PIECES_PER_WORD * look.tokens,
        "few_letters": look.letters < MIN_LETTERS * look.characters,
        "repetition": look.commonest > MAX_SAME * look.pieces,
        "unreadable": look.unknown > MAX_UNKNOWN * look.pieces,
        "not_prose": look.language < MIN_LANGUAGE * MILLION,
    }


def _list_doubts(look: TextLook, wording: Wording) -> dict[str, bool]:
    """Signs between words are neither pieces of words nor repetitions."""
    formula = wording.prose and wording.function >= BINDING_WORDS
    return {
        "word_salad": _has_odd_words(look, wording) or (wording.prose and _has_odd_order(wording)),
        "few_letters": look.letters < (MIN_LETTERS_OF_FORMULA if formula else MIN_LETTERS) * look.characters,
        "repetition": wording.commonest > MAX_SAME * wording.spelt,
        "unreadable": look.unknown > MAX_UNKNOWN * look.pieces,
        "not_prose": wording.flow < MIN_LANGUAGE * MILLION or (wording.prose and _is_not_english(look, wording)),
    }


def _has_odd_words(look: TextLook, wording: Wording) -> bool:
    """Too many pieces in all, signs among them if it is not prose; in prose, too many words that have to be spelt."""
    if not wording.prose:
        return look.pieces > MAX_PIECES_PER_WORD * (look.tokens + wording.unspaced)
    words = look.words + wording.unspaced
    return (
        wording.spelt > MAX_PIECES_PER_WORD * words
        or wording.split >= MAX_SPLIT * (words + SPARED_SPLIT)
        or wording.split_small >= MAX_SPLIT_SMALL * (words + SPARED_SPLIT_SMALL)
    )


def _has_odd_order(wording: Wording) -> bool:
    """Neighbours that nobody puts side by side; a longer text must lie above chance as well."""
    if wording.fit * wording.pairs < MIN_ORDER * MILLION:
        return True
    return wording.pairs >= LONG_PAIRS and wording.z < MIN_ORDER_OF_LONG * MILLION


def _is_not_english(look: TextLook, wording: Wording) -> bool:
    """Another script; or few function words, in an order that does not make up for them."""
    if 2 * wording.unspaced > look.letters or (wording.function == 0 and look.words >= UNBOUND_WORDS):
        return True
    bound = wording.z + wording.function * MILLION
    terse = bound * TERSE_WORDS >= look.words * MILLION and wording.spelt <= MAX_PIECES_OF_TERSE * look.words
    return look.language < MIN_LANGUAGE * MILLION and not terse
