"""Behaviour of functions in answers (spec § 19). Code agrees by its results, not by its wording: every answer's
function is interpreted, never executed, on the calls that the prompt shows and on variations of them.
"""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from weighbeam.core.canonical import digest_text, seeded_digest
from weighbeam.mechanisms.inference.interpreter.interpret import Interpreter
from weighbeam.mechanisms.inference.interpreter.limits import LimitReached, Meter, ProgramFault, Unsupported
from weighbeam.mechanisms.inference.interpreter.parse import parse_program
from weighbeam.mechanisms.inference.reference.tested import find_code, show_result

MAX_TEXT = 30_000
MAX_CALL = 400
MAX_CALLS = 8
MAX_NAMES = 8
MAX_PLACES = 64
"""Places in a prompt where one function might be called that are looked at."""
VARIED = 12
DEFINED = re.compile(r"\bdef\s+(\w+)\s*\(")
RESULT = re.compile(r"\s*(?:=+>?|➞|->|→|returns?|should return|will return|must return|#|is|\s|:)*([^\n]+)")


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call in the prompt: its arguments, and its result where one is shown."""

    given: list[Any]
    result: str | None


@dataclass(frozen=True, slots=True)
class Trials:
    """A function that answers are to define, what it is tried on, and which results the prompt shows."""

    name: str
    inputs: list[list[Any]]
    shown: dict[int, str]


class _Draws:
    """Draws that follow from a prompt: no miner can foresee them before it has the prompt, and everybody can repeat
    them."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._drawn = 0

    def below(self, limit: int) -> int:
        self._drawn += 1
        return int(seeded_digest(self._seed, "trial", self._drawn)[:16], 16) % limit

    def pick(self, items: Sequence[Any]) -> Any:
        return items[self.below(len(items))]

    def shuffle(self, items: list[Any]) -> list[Any]:
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in items]


def plan_trials(prompt: str) -> Trials | None:
    """The last function that the prompt both defines and calls; None if there is none.

    >>> plan_trials("def inc(x):\\n    # inc(1) == 2").shown
    {0: '2'}
    """
    names = dict.fromkeys(reversed(DEFINED.findall(prompt)))
    for name in islice(names, MAX_NAMES):
        calls = list(islice(_find_calls(prompt, name), MAX_CALLS))
        if calls:
            chance = _Draws(digest_text(prompt))
            base = [call.given for call in calls]
            varied = [[_vary(value, chance) for value in chance.pick(base)] for _ in range(VARIED)]
            shown = {place: call.result for place, call in enumerate(calls) if call.result is not None}
            return Trials(name, base + varied, shown)
    return None


def try_function(trials: Trials, text: str) -> list[str] | None:
    """Each result in one line of JSON, a fault as its name; None if nothing can be said of the code."""
    source = find_code(text[-MAX_TEXT:], trials.name)
    if source is None:
        return None
    program = Interpreter(Meter())
    try:
        program.run(parse_program(source))
        return [_try_one(program, trials.name, given) for given in trials.inputs]
    except Unsupported:
        return None
    except (LimitReached, ProgramFault):
        return ["fault"] * len(trials.inputs)


def _try_one(program: Interpreter, name: str, given: list[Any]) -> str:
    try:
        shown = show_result(program.call(name, json.loads(json.dumps(given))))
    except (LimitReached, ProgramFault):
        return "fault"
    return json.dumps(shown["is"], sort_keys=True) if "is" in shown else "fault"


def _find_calls(prompt: str, name: str) -> Iterator[ShownCall]:
    for found in islice(re.finditer(rf"(?<!def )\b{re.escape(name)}\(", prompt), MAX_PLACES):
        end = _close(prompt, found.end() - 1)
        given = None if end is None else _read_arguments(prompt[found.start() : end])
        if given is not None and end is not None:
            yield ShownCall(given, _read_result(prompt[end : end + MAX_CALL]))


def _close(text: str, start: int) -> int | None:
    """Where the bracket that opens at `start` has closed; brackets in strings are none."""
    depth, quote = 0, ""
    for place in range(start, min(len(text), start + MAX_CALL)):
        sign = text[place]
        if quote or sign in "'\"":
            quote = "" if sign == quote else quote or sign
            continue
        depth += (sign in "([{") - (sign in ")]}")
        if not depth:
            return place + 1
    return None


def _read_arguments(call: str) -> list[Any] | None:
    """Plain values only."""
    try:
        body = ast.parse(call, mode="eval").body
        if not isinstance(body, ast.Call) or body.keywords:
            return None
        given = [ast.literal_eval(argument) for argument in body.args]
        return list(json.loads(json.dumps(given)))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None


def _read_result(rest: str) -> str | None:
    """The longest plain value at the beginning of what follows a call."""
    found = RESULT.match(rest)
    words = found[1].strip() if found else ""
    for end in range(len(words), 0, -1):
        try:
            shown = show_result(ast.literal_eval(words[:end].strip().rstrip(".")))
        except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
            continue
        return json.dumps(shown["is"], sort_keys=True) if "is" in shown else None
    return None


def _vary(value: Any, chance: _Draws) -> Any:
    """A value of the same kind, a little different."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + chance.pick((-2, -1, 1, 2, 5))
    if isinstance(value, float):
        return value + chance.pick((-1.5, 0.5, 1.0))
    if isinstance(value, str):
        return _vary_items(list(value), chance, "".join)
    if isinstance(value, list):
        return _vary_items(list(value), chance, list)
    if isinstance(value, dict):
        return {key: _vary(inner, chance) for key, inner in value.items()}
    return value


def _vary_items(items: list[Any], chance: _Draws, join: Any) -> Any:
    """In another order, one fewer, or one changed or repeated."""
    if not items:
        return join(items)
    what = chance.below(3)
    place = chance.below(len(items))
    if what == 0:
        items = chance.shuffle(items)
    elif what == 1:
        items.pop(place)
    elif isinstance(items[place], str) and len(items[place]) == 1:
        items.append(items[place])
    else:
        items[place] = _vary(items[place], chance)
    return join(items)


def agree_on_results(one: Sequence[str] | None, other: Sequence[str] | None) -> float | None:
    """The share of inputs on which two functions come to the same; None if one of them is unknown.

    >>> agree_on_results(["1", "2"], ["1", "3"])
    0.5
    """
    if one is None or other is None:
        return None
    return sum(a == b and a != "fault" for a, b in zip(one, other, strict=True)) / len(one)
