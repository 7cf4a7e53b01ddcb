"""Cleaning (spec § 6): what a reader cannot see is dropped, what looks alike is written alike."""

import unicodedata

from weighbeam.core.nfc import to_nfkc


def clean_text(text: str) -> str:
    """Without characters of category Cf, then NFKC. All offsets are code points of the result.

    >>> clean_text("inter\\u00adnational ﬁ\\u200bsh")
    'international fish'
    """
    if text.isascii():
        return text
    distinct = set(text)
    unseen = {ord(c): None for c in distinct if unicodedata.category(c) == "Cf"}
    if unseen:
        text = text.translate(unseen)
    # Most pages come cleaned. A text whose marks are out of order is told at once, so that none takes long to check.
    if unicodedata.is_normalized("NFKC", text):
        return text
    if not any(map(_begins_with_mark, distinct)):
        return unicodedata.normalize("NFKC", text)
    # A space composes with nothing, so that pieces may be normalised alone; few are long enough to take the slow path.
    return " ".join(map(to_nfkc, text.split(" ")))


def _begins_with_mark(character: str) -> bool:
    """Whether many of them in a row would make the library sort a long run of marks."""
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) > 0
