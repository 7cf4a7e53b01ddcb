"""Display names that other people chose: cleaned for one line of a page, a table or a terminal. Pure."""

import unicodedata

MAX_NAME = 40
MAX_MARKS = 2
MAX_READ = 400
BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Characters that count as printable and show nothing."""


def clean_name(given: object) -> str | None:
    """One line without control, format or direction characters, 40 characters at most; None if nothing is left.

    >>> clean_name("  ada\\tlovelace\\n"), clean_name("\\u202eadA\\u200b\\x1b[31m"), clean_name("\\u3164")
    ('ada lovelace', 'adA[31m', None)
    """
    if isinstance(given, bytes):
        given = given[:MAX_READ].decode("utf-8", "ignore")
    if not isinstance(given, str):
        return None
    spaced = " ".join(unicodedata.normalize("NFC", given[:MAX_READ]).split())
    kept, marks = [], 0
    for character in spaced:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if character.isprintable() and character not in BLANKS and marks <= MAX_MARKS:
            kept.append(character)
    return " ".join("".join(kept).split())[:MAX_NAME].strip() or None


def is_clean_name(given: str) -> bool:
    """
    >>> is_clean_name("Ada's miner 2"), is_clean_name("two\\nlines"), is_clean_name("x" * 41), is_clean_name("")
    (True, False, False, False)
    """
    return clean_name(given) == given


def shorten(name: str, ends: int = 6) -> str:
    """The two ends of a long key.

    >>> shorten("5FhnomziA8LvBjVgFmNbwRacmvvnbJUhZ9g8X3qeQAw8D5HY"), shorten("ada")
    ('5Fhnom…8D5HY', 'ada')
    """
    return name if len(name) <= 2 * ends + 3 else f"{name[:ends]}…{name[-ends + 1 :]}"
