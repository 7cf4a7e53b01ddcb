"""References: what the right answer of a task is, checked when it is read, as plain JSON when it is recorded."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from weighbeam.core.canonical import canonical_json
from weighbeam.core.errors import require
from weighbeam.core.numbers import is_number
from weighbeam.core.text import clean_text, find_words, has_lone_surrogate

Kind = Literal["value", "choice", "span", "set", "function", "text"]
Forms: TypeAlias = tuple[str, ...]
"""Spellings of one thing, any of which is meant."""
KINDS = ("value", "choice", "span", "set", "function", "text")
FIELDS = {
    "value": {"answer", "tolerance"},
    "choice": {"answer", "options"},
    "span": {"answer", "others"},
    "set": {"answer", "others"},
    "function": {"name", "cases"},
    "text": {"claims"},
}
LETTERS = "ABCDEFGH"
MAX_THINGS = 40
MAX_FORMS = 12
MAX_CASES = 12
MAX_CLAIMS = 4
MAX_LETTERS = 300
MAX_BYTES = 16_384
NAME = re.compile(r"[a-z_][a-z0-9_]{0,39}")


@dataclass(frozen=True, slots=True)
class Reference:
    """The right answer of a task. Of `things` (options, or what a text names) those in `right` are it; `cases` are the
    arguments of a function and what it gives for them; `claims` follow from any right text."""

    kind: Kind
    value: Fraction = Fraction(0)
    tolerance: Fraction = Fraction(0)
    things: tuple[Forms, ...] = ()
    right: frozenset[int] = frozenset()
    name: str = ""
    cases: tuple[tuple[Any, Any], ...] = ()
    claims: tuple[str, ...] = ()

    def describe(self) -> str:
        """Describe the expected answer.

        >>> parse_reference({"kind": "span", "answer": ["Ada", "Ada Moor"], "others": ["Bo", "Cy"]}).describe()
        'Ada'
        """
        if self.kind == "value":
            about = f" ± {float(self.tolerance):g}" if self.tolerance else ""
            return f"{float(self.value):.12g}{about}"
        if self.kind == "function":
            return f"{self.name}() right in {len(self.cases)} cases"
        if self.kind == "text":
            return "; ".join(self.claims)
        letters = [f"{LETTERS[place]}) " if self.kind == "choice" else "" for place in range(len(self.things))]
        return ", ".join(f"{letters[place]}{self.things[place][0]}" for place in sorted(self.right))


def parse_reference(given: Any) -> Reference:
    """A reference out of its JSON; `bad_reference` says what is wrong with it."""
    _require(isinstance(given, Mapping), "it is not an object", 'write {"kind": "value", "answer": 42}')
    kind = given.get("kind")
    _require(kind in KINDS, f"its kind is {kind!r:.40}", f"use one of {', '.join(KINDS)}")
    unknown = sorted(str(name) for name in given.keys() - FIELDS[kind] - {"kind"})
    _require(not unknown, f"{kind} has no field {', '.join(unknown):.80}", f"give {', '.join(sorted(FIELDS[kind]))}")
    try:
        size = len(canonical_json(dict(given)))
    except (TypeError, ValueError, RecursionError):
        size = MAX_BYTES + 1
    _require(size <= MAX_BYTES, "it is not plain JSON, or it is too large", f"keep to {MAX_BYTES:,} bytes")
    return _PARSERS[kind](given)


def _require(holds: bool, what: str, remedy: str) -> None:
    require(holds, "bad_reference", f"the reference is wrong: {what}", remedy)


def _parse_value(given: Mapping[str, Any]) -> Reference:
    answer, tolerance = given.get("answer"), given.get("tolerance", 0)
    _require(is_number(answer), f"answer is {answer!r:.40}", "give the number that is right")
    _require(is_number(tolerance, 0), f"tolerance is {tolerance!r:.40}", "give how far off a right answer may be")
    return Reference("value", value=_exact(answer), tolerance=_exact(tolerance))


def _exact(number: Any) -> Fraction:
    """As it is written, not as the nearest binary fraction."""
    return Fraction(repr(number))


def _parse_choice(given: Mapping[str, Any]) -> Reference:
    options = _parse_things(given.get("options"), "options", 2)
    _require(len(options) <= len(LETTERS), f"there are {len(options)} options", f"give 2 to {len(LETTERS)}")
    answer = given.get("answer")
    named = [place for place, forms in enumerate(options) if answer in forms]
    letter = LETTERS.find(answer) if isinstance(answer, str) and len(answer) == 1 else -1
    right = named[0] if named else letter if 0 <= letter < len(options) else -1
    _require(right >= 0, f"answer {answer!r:.40} is none of the options", "give an option or its letter")
    _refuse_confusion(options)
    return Reference("choice", things=options, right=frozenset({right}))


def _parse_span(given: Mapping[str, Any]) -> Reference:
    answer = given.get("answer")
    forms = _parse_things([answer], "answer", 1)
    others = _parse_things(given.get("others"), "others", 2)
    _refuse_confusion((*forms, *others))
    return Reference("span", things=(*forms, *others), right=frozenset({0}))


def _parse_set(given: Mapping[str, Any]) -> Reference:
    answer = _parse_things(given.get("answer"), "answer", 1)
    others = _parse_things(given.get("others"), "others", len(answer))
    _refuse_confusion((*answer, *others))
    return Reference("set", things=(*answer, *others), right=frozenset(range(len(answer))))


def _parse_things(given: Any, what: str, least: int) -> tuple[Forms, ...]:
    """Each thing is a text, or a list of texts that all mean it."""
    remedy = f"give a list of {least} to {MAX_THINGS} texts, or of lists of texts that mean the same"
    _require(isinstance(given, list) and least <= len(given) <= MAX_THINGS, f"{what} is {given!r:.40}", remedy)
    return tuple(_parse_forms(one, what) for one in given)


def _parse_forms(given: Any, what: str) -> Forms:
    forms = [given] if isinstance(given, str) else given
    remedy = f"give a text of at most {MAX_LETTERS} characters with a word, or a list of at most {MAX_FORMS}"
    _require(isinstance(forms, list) and 1 <= len(forms) <= MAX_FORMS, f"{what} holds {given!r:.40}", remedy)
    for form in forms:
        _check_text(form, what, remedy)
    return tuple(forms)


def _check_text(text: Any, what: str, remedy: str) -> None:
    good = isinstance(text, str) and len(text) <= MAX_LETTERS and not has_lone_surrogate(text)
    _require(good and bool(find_words(clean_text(text))), f"{what} holds {text!r:.40}", remedy)


def _refuse_confusion(things: Sequence[Forms]) -> None:
    """Refuse two things with the same spelling."""
    met: dict[tuple[str, ...], int] = {}
    for place, forms in enumerate(things):
        for form in forms:
            words = tuple(find_words(clean_text(form)))
            _require(met.setdefault(words, place) == place, f"{form!r:.40} means two things", "spell them differently")


def _parse_function(given: Mapping[str, Any]) -> Reference:
    name, cases = given.get("name"), given.get("cases")
    good = isinstance(name, str) and NAME.fullmatch(name) is not None
    _require(good, f"name is {name!r:.40}", "give the name of a Python function")
    remedy = f"give 2 to {MAX_CASES} cases, each [[arguments], result]"
    _require(isinstance(cases, list) and 2 <= len(cases) <= MAX_CASES, f"cases is {cases!r:.40}", remedy)
    assert isinstance(cases, list)
    for case in cases:
        good = isinstance(case, list) and len(case) == 2 and isinstance(case[0], list)
        _require(good, f"a case is {case!r:.40}", remedy)
    return Reference("function", name=str(name), cases=tuple((case[0], case[1]) for case in cases))


def _parse_text(given: Mapping[str, Any]) -> Reference:
    claims = given.get("claims")
    remedy = f"give 1 to {MAX_CLAIMS} sentences that any right answer entails"
    _require(isinstance(claims, list) and 1 <= len(claims) <= MAX_CLAIMS, f"claims is {claims!r:.40}", remedy)
    assert isinstance(claims, list)
    for claim in claims:
        _check_text(claim, "claims", remedy)
    return Reference("text", claims=tuple(claims))


_PARSERS = {
    "value": _parse_value,
    "choice": _parse_choice,
    "span": _parse_span,
    "set": _parse_set,
    "function": _parse_function,
    "text": _parse_text,
}
