"""The answers to a prompt, best first: what an honest miner can say with all its skill, or with little."""

from functools import cache

from weighbeam.lab.banks.read_inference import read_graded
from weighbeam.miners.contradict import SENTENCE
from weighbeam.miners.prepared_answers import read_answers

WHOLE = 3
"""Of the five voices of a prompt so many are given whole; the others stop half way, as a plainer miner would."""


@cache
def read_ladders() -> dict[str, tuple[str, ...]]:
    """By prompt id: five thorough answers, five plain ones, two thin ones."""
    return {name: _build(name) for name in sorted(read_graded())}


def _build(name: str) -> tuple[str, ...]:
    graded, voices = read_graded()[name], read_answers()[name]
    good, plain, weak = ([one.text for one in graded if one.grade == grade] for grade in ("good", "plain", "weak"))
    return (*good, *voices[:WHOLE], *plain, *map(halve, voices[WHOLE:]), *weak)


def halve(text: str) -> str:
    """The first half of a text's sentences, at least one.

    >>> halve("One. Two. Three.")
    'One. Two.'
    """
    sentences = SENTENCE.split(text)
    return " ".join(sentences[: (len(sentences) + 1) // 2])
