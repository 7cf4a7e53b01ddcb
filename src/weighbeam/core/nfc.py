"""Normal forms in linear time: the library sorts combining marks by insertion, which a hostile text makes quadratic."""

import unicodedata
from itertools import groupby
from typing import Literal

SHORT = 64


def to_nfc(word: str) -> str:
    """The NFC of a word, whatever its length.

    >>> to_nfc("e\\u0301") == "é"
    True
    """
    if word.isascii():
        return word
    if len(word) > SHORT:
        word = _sort_marks(word, "NFD")
    return unicodedata.normalize("NFC", word)


def to_nfkc(text: str) -> str:
    """The NFKC of a text, whatever its length.

    >>> to_nfkc("ﬁ²e\\u0301") == "fi2é"
    True
    """
    if text.isascii():
        return text
    if len(text) > SHORT:
        text = _sort_marks(text, "NFKD")
    return unicodedata.normalize("NFKC", text)


def to_nfkd(text: str) -> str:
    """The NFKD of a text, whatever its length.

    >>> to_nfkd("é") == "e\\u0301"
    True
    """
    return text if text.isascii() else _sort_marks(text, "NFKD")


def _sort_marks(word: str, form: Literal["NFD", "NFKD"]) -> str:
    """Decomposed, each run of marks stably sorted by combining class: an order the library leaves as it is."""
    letters = [part for character in word for part in unicodedata.normalize(form, character)]
    pieces: list[str] = []
    for _, run in groupby(letters, key=lambda letter: unicodedata.combining(letter) > 0):
        pieces += sorted(run, key=unicodedata.combining)
    return "".join(pieces)
