"""NFC in linear time: the library sorts combining marks by insertion, which a hostile text makes quadratic."""

import unicodedata
from itertools import groupby

SHORT = 64


def to_nfc(word: str) -> str:
    """The NFC of a word, whatever its length.

    >>> to_nfc("e\\u0301") == "é"
    True
    """
    if word.isascii():
        return word
    if len(word) > SHORT:
        word = _sort_marks(word)
    return unicodedata.normalize("NFC", word)


def _sort_marks(word: str) -> str:
    """Decomposed, each run of marks stably sorted by combining class: an order the library leaves as it is."""
    letters = [part for character in word for part in unicodedata.normalize("NFD", character)]
    pieces: list[str] = []
    for _, run in groupby(letters, key=lambda letter: unicodedata.combining(letter) > 0):
        pieces += sorted(run, key=unicodedata.combining)
    return "".join(pieces)
