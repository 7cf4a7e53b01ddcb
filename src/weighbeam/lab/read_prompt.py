"""What somebody without an answer takes from the question: its long words."""

import re

WORD = re.compile(r"[A-Za-z][a-z]+")
LETTERS = 5
COMMON = frozenset("about after again could every explain happens should their there these things those through what "
                   "where which while would your".split())  # fmt: skip


def find_keywords(prompt: str) -> tuple[str, ...]:
    """The long words of a prompt that are not everybody's, each once.

    >>> find_keywords("Why does bread rise, and why does bread brown in the oven?")
    ('bread', 'brown')
    """
    words = (word.lower() for word in WORD.findall(prompt))
    return tuple(dict.fromkeys(word for word in words if len(word) >= LETTERS and word not in COMMON))
