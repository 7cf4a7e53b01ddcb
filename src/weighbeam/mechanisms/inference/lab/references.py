"""Answers to reference tasks in the lab: right or wrong, and equally fluent."""

from fractions import Fraction

import numpy as np

from weighbeam.mechanisms.inference.reference.kinds import LETTERS, Reference, parse_reference
from weighbeam.mechanisms.inference.reference.numerals import format_number
from weighbeam.mechanisms.inference.reference.template import DrawnTask

OPENINGS = (
    "Reading the question closely, {0} and {1} decide the matter.",
    "The details about {0} matter here, and {1} has to be kept in mind as well.",
    "Start with {0}; then {1} follows from the description.",
    "What counts is {0}, together with {1}, and nothing else in the text.",
    "Let me go through it: first {0}, afterwards {1}.",
    "One only needs {0} and {1} to settle this.",
)
MIDDLES = (
    "Checking every step again gives the same outcome.",
    "Working through the steps in order leaves a single possibility.",
    "Each figure and name in the description is used once.",
    "A quick check of the other possibilities rules them out.",
    "Putting these facts together leads to one result.",
    "Nothing further has to be assumed for that.",
)
CLOSINGS = (
    "So the answer is {0}.",
    "The result is {0}.",
    "In the end the answer is {0}.",
    "That is why the answer is {0}.",
    "The correct answer is {0}.",
    "My answer: {0}.",
)


def answer_reference(drawn: DrawnTask, right: bool, chance: np.random.Generator) -> str:
    """A fluent answer in one of many wordings; a wrong one differs in what it comes to and in nothing else."""
    reference = parse_reference(drawn.body["reference"])
    if reference.kind in ("function", "text"):
        return _write_given(drawn, reference, right, chance)
    said = _state_right(reference) if right else _state_wrong(reference, chance)
    topics = _find_topics(drawn.body["prompt"], chance)
    lines = (_pick(OPENINGS, chance).format(*topics), _pick(MIDDLES, chance), _pick(CLOSINGS, chance).format(said))
    return " ".join(lines)


def _write_given(drawn: DrawnTask, reference: Reference, right: bool, chance: np.random.Generator) -> str:
    given = drawn.right if right else drawn.wrong
    if reference.kind == "text":
        return str(given)
    topics = _find_topics(drawn.body["prompt"], chance)
    return f"{_pick(OPENINGS, chance).format(*topics)}\n\n```python\n{given}\n```\n\n{_pick(MIDDLES, chance)}"


def _state_right(reference: Reference) -> str:
    if reference.kind == "value":
        return format_number(reference.value)
    return _name(reference, sorted(reference.right))


def _state_wrong(reference: Reference, chance: np.random.Generator) -> str:
    """A number nearby, another of the things, or a list that is mostly of the others."""
    if reference.kind == "value":
        steps = (Fraction(1), Fraction(-1), Fraction(2), Fraction(10), reference.value + 1)
        return format_number(reference.value + steps[chance.integers(len(steps))])
    others = [place for place in range(len(reference.things)) if place not in reference.right]
    chosen = chance.permutation(others)[: len(reference.right)]
    return _name(reference, [int(place) for place in chosen])


def _name(reference: Reference, places: list[int]) -> str:
    letters = [f"{LETTERS[place]}) " if reference.kind == "choice" else "" for place in places]
    return ", ".join(letter + reference.things[place][0] for letter, place in zip(letters, places, strict=True))


def _find_topics(prompt: str, chance: np.random.Generator) -> tuple[str, str]:
    """Two runs of words from the prompt: what a fluent answer mentions."""
    words = [word for word in prompt.split() if word.isalpha()]
    starts = chance.integers(0, max(1, len(words) - 3), 2)
    first, second = (" ".join(words[start : start + 3]).lower() for start in starts)
    return first, second


def _pick(lines: tuple[str, ...], chance: np.random.Generator) -> str:
    return lines[chance.integers(len(lines))]
