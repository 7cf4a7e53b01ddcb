"""Read an answer by the kind of its task, without knowing the right answer.

A hedge names two things, so it reads as `None` with the reason. The reading is recorded; whether it is right
follows from that and the reference (`truth.py`).
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from weighbeam.core.text import clean_text, find_words
from weighbeam.mechanisms.inference.reference.claims import (
    find_bold,
    find_conclusion,
    find_named,
    find_tail,
    is_denied,
    prepare,
    split_claims,
)
from weighbeam.mechanisms.inference.reference.kinds import LETTERS, Reference
from weighbeam.mechanisms.inference.reference.numerals import (
    AnswerNumber,
    find_numbers,
    find_spelled,
    format_number,
)
from weighbeam.mechanisms.inference.reference.tested import try_function

Reading = dict[str, Any]
MAX_LOOKED = 20
"""Numbers from where an answer says what it comes to."""
ARTICLES = ("the", "a", "an")
LETTER = re.compile(r"(?:\b[Oo]ption\s+|\b[Cc]hoice\s+|\()([A-H])\b|(?<![\w'])([A-H])(?=[).:,;]|\s*$|\s+(?:or|and)\b)")
JOINED = re.compile(r"\s*(\w*)\s*,?\s*(?:or|/)\s+(?:maybe\s+|perhaps\s+|possibly\s+)?[$€£]?\s*", re.IGNORECASE)
NEXT_WORD = re.compile(r"\s*(\w*)")


def read_answer(reference: Reference, text: str) -> Reading:
    """Read `text`: `{value, percent}`, `{named}`, or results of a function. A sense judges free text."""
    if reference.kind == "function":
        return try_function(reference, text)
    prepared = prepare(text)
    if reference.kind == "value":
        return read_value(prepared)
    forms = [[_spell(form) for form in thing] for thing in reference.things]
    if reference.kind == "set":
        return {"named": read_set(prepared, forms)}
    return read_one(prepared, forms, reference.kind == "choice")


def _spell(form: str) -> list[str]:
    """The words of a thing, without an article in front."""
    words = find_words(clean_text(form))
    return words[1:] if len(words) > 1 and words[0] in ARTICLES else words


def read_value(text: str) -> Reading:
    """The number that an answer comes to.

    >>> read_value("3 + 4 = 7, so the answer is seven.")["value"], read_value("It is 12 or 13.")
    ('7', {'value': None, 'why': 'hedged'})
    """
    tail, bold = find_tail(text), find_bold(text)
    for claim in (tail, bold):
        if claim is not None:
            found = _read_first(claim)
            if found is not None:
                return found
    numbers = _find_last(text, find_numbers(text)) or _find_last(text, find_spelled(text))
    if not numbers:
        return {"value": None, "why": "no number"}
    if len(numbers) > 1 and _is_hedged(text, numbers[-2], numbers[-1]):
        return {"value": None, "why": "hedged"}
    return _say(numbers[-1])


def _read_first(claim: str) -> Reading | None:
    """The first number of a claim; if its sentence calculates, what stands after the last sign of equality."""
    sentences = split_claims(claim)
    first = sentences[0] if sentences else ""
    start = first.rfind("=") + 1
    for part in (first[start:], claim):
        found = sorted([*find_numbers(part), *find_spelled(part)], key=lambda one: one.start)
        numbers = _find_meant(part, found[:MAX_LOOKED])
        if numbers:
            if len(numbers) > 1 and _is_hedged(part, numbers[0], numbers[1]):
                return {"value": None, "why": "hedged"}
            return _say(numbers[0])
    return None


def _find_last(text: str, numbers: Iterable[AnswerNumber]) -> list[AnswerNumber]:
    return _find_meant(text, list(numbers)[-MAX_LOOKED:])


def _find_meant(text: str, numbers: Sequence[AnswerNumber]) -> list[AnswerNumber]:
    """Those that are not denied: *not 41 but 42*."""
    return [one for one in numbers if not is_denied(text, one.start, one.end)]


def _is_hedged(text: str, first: AnswerNumber, second: AnswerNumber) -> bool:
    """Two different numbers of one unit with *or* between them; *2 hours or 120 minutes* is not a hedge."""
    between = JOINED.fullmatch(text, first.end, second.start)
    if between is None or first.value == second.value:
        return False
    after = NEXT_WORD.match(text, second.end)
    unit = after[1] if after else ""
    return not between[1] or between[1].lower() == unit.lower()


def _say(number: AnswerNumber) -> Reading:
    return {"value": format_number(number.value), **({"percent": True} if number.percent else {})}


Things = Sequence[Sequence[Sequence[str]]]


def read_one(text: str, things: Things, lettered: bool) -> Reading:
    """The one thing that an answer comes to: in what follows a mark, in bold, in all of it, at its end or beginning."""
    sentences = split_claims(text)
    tail = find_tail(text)
    marked = split_claims(tail)[:1] if tail is not None else []
    places = (*marked, *filter(None, [find_bold(text)]))
    for claim in places:
        named = _name(claim, things, lettered)
        if named:
            return _decide(named)
    everywhere = _name(text, things, lettered)
    if len(everywhere) <= 1:
        return _decide(everywhere)
    concluded = find_conclusion(text)
    for claim in (*filter(None, [concluded]), *sentences[-1:], *sentences[:1]):
        named = _name(claim, things, lettered)
        if len(named) == 1:
            return _decide(named)
    return _decide(everywhere)


def _decide(named: set[int]) -> Reading:
    if len(named) == 1:
        return {"named": sorted(named)}
    return {"named": [], "why": "hedged" if named else "nothing named"}


def _name(claim: str, things: Things, lettered: bool) -> set[int]:
    named = set(find_named(claim, things))
    if lettered:
        found = [one for one in LETTER.finditer(claim) if not is_denied(claim, one.start(), one.end())]
        letters = {LETTERS.index(one[1] or one[2]) for one in found}
        named |= {place for place in letters if place < len(things)}
    return named


def read_set(text: str, things: Things) -> list[int]:
    """Everything that is named after the last mark, or else anywhere."""
    tail = find_tail(text)
    named = set(find_named(tail, things)) if tail is not None else set()
    return sorted(named or set(find_named(text, things)))
