"""Things to say: every sentence of the project's own prose once, and ways to say one again."""

from collections.abc import Callable, Sequence

import numpy as np

from weighbeam.mechanisms.chunking.generate import read_bank
from weighbeam.senses.ports import Senses

LEAST_WORDS = 10
LEAST_LETTERS = 6
OPENINGS = (
    "It is well known that",
    "As many people have noticed,",
    "Those who have seen it say that",
    "It should not be forgotten that",
    "In short,",
    "According to a neighbour of mine,",
)


def list_statements(senses: Senses) -> tuple[str, ...]:
    """Sentences long enough to stand alone."""
    split = senses.sentences("rules").split
    found = (one.strip() for paragraphs in read_bank().values() for text in paragraphs for one in split(text))
    return tuple(dict.fromkeys(one for one in found if len(one.split()) >= LEAST_WORDS))


def list_words(statements: Sequence[str]) -> tuple[str, ...]:
    """The longer words of all statements, each once."""
    words = (word.strip('.,;:()"').lower() for text in statements for word in text.split())
    return tuple(sorted({word for word in words if word.isalpha() and len(word) >= LEAST_LETTERS}))


def reword(text: str, chance: np.random.Generator) -> str:
    """The same again, as somebody says it who has forgotten where it comes from."""
    way = WAYS[int(chance.integers(len(WAYS)))]
    return way(text, chance)


def _open(text: str, chance: np.random.Generator) -> str:
    return f"{OPENINGS[int(chance.integers(len(OPENINGS)))]} {text[:1].lower()}{text[1:]}"


def _turn_round(text: str, _: np.random.Generator) -> str:
    words = text.rstrip(".").split()
    middle = len(words) // 2
    return " ".join([*words[middle:], *words[:middle]]) + "."


def _shorten(text: str, _: np.random.Generator) -> str:
    words = text.split()
    return " ".join(words[: max(3, len(words) * 4 // 5)]) + "."


WAYS: tuple[Callable[[str, np.random.Generator], str], ...] = (_open, _open, _turn_round, _shorten)
