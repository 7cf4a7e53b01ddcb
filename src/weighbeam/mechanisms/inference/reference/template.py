"""Templates of reference tasks: a few draws, a prompt with places for them, and the answer that follows.

A template is a row of plain JSON. Its small program is interpreted like a miner's code, so that a file of templates
from anywhere can be read safely.
"""

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.mechanism.records import Seed
from weighbeam.mechanisms.inference.interpreter.interpret import Interpreter
from weighbeam.mechanisms.inference.interpreter.limits import LimitReached, Meter, ProgramFault, Unsupported
from weighbeam.mechanisms.inference.interpreter.parse import parse_program
from weighbeam.mechanisms.inference.reference.draws import SeededDraws
from weighbeam.mechanisms.inference.reference.kinds import parse_reference
from weighbeam.mechanisms.inference.reference.tested import show_result

PLACE = re.compile(r"\{([^{}\n]+)\}")
FIELDS = ("id", "let", "prompt", "prose", "reference", "solution", "right", "wrong")
MAX_LINES = 40
STEPS = 400_000
REMEDY = "see 'Reference tasks' on the page 'The inference mechanism'"


@dataclass(frozen=True, slots=True)
class DrawnTask:
    """A template with everything drawn: `body` is the task's; `right` and `wrong` are answers, where it gives any."""

    body: dict[str, Any]
    right: str | None = None
    wrong: str | None = None


@cache
def load_words() -> dict[str, list[str]]:
    """Lists that every template may draw from."""
    text = (files("weighbeam.mechanisms.inference.reference") / "bank" / "words.json").read_text("utf-8")
    words: dict[str, list[str]] = json.loads(text)
    return words


def expand_template(row: Mapping[str, Any], seed: Seed) -> DrawnTask:
    """The task that a template makes of a seed; `bad_template` says what is wrong with it.

    >>> row = {"let": ["a = between(2, 9)"], "prompt": "Twice {a}?", "reference": {"kind": "value", "answer": "=2 * a"}}
    >>> expand_template(row, "s") == expand_template(row, "s")
    True
    """
    unknown = sorted(str(name) for name in row.keys() - set(FIELDS))
    _require(not unknown, f"it has a field {', '.join(unknown):.80}")
    lines = row.get("let", [])
    good = isinstance(lines, list) and len(lines) <= MAX_LINES and all(isinstance(line, str) for line in lines)
    _require(good, f"let must be a list of at most {MAX_LINES} lines")
    try:
        return _expand(row, "\n".join(lines), seed)
    except (LimitReached, Unsupported, ProgramFault) as fault:
        raise WeighbeamError("bad_template", f"the template fails: {type(fault).__name__} {fault}", REMEDY) from None


def _require(holds: bool, what: str) -> None:
    require(holds, "bad_template", f"the template is wrong: {what}", REMEDY)


def _expand(row: Mapping[str, Any], let: str, seed: Seed) -> DrawnTask:
    program = Interpreter(Meter(STEPS), SeededDraws(seed).offer())
    program.globals.names |= {name: list(words) for name, words in load_words().items()}
    program.run(parse_program(let))
    prompts = row.get("prompt")
    if isinstance(prompts, list) and prompts:
        prompts = prompts[SeededDraws(f"{seed}/prompt").between(Meter(), 0, len(prompts) - 1)]
    _require(isinstance(prompts, str), "prompt must be a text")
    reference = _fill(program, row.get("reference"))
    solution = row.get("solution")
    if solution is not None:
        reference = _solve(str(_fill(program, solution)), reference)
    parse_reference(reference)
    body = {"prompt": _fill(program, prompts), "reference": reference}
    if "prose" in row:
        body["prose"] = row["prose"]
    right = row.get("right", solution)
    return DrawnTask(body, *(None if text is None else str(_fill(program, text)) for text in (right, row.get("wrong"))))


def _fill(program: Interpreter, given: Any) -> Any:
    """Plain JSON with every `{expression}` in a text put in, and every text `=expression` evaluated."""
    if isinstance(given, Mapping):
        return {str(name): _fill(program, one) for name, one in given.items()}
    if isinstance(given, list):
        return [_fill(program, one) for one in given]
    if not isinstance(given, str):
        return given
    if given.startswith("="):
        return _round(show_result(_evaluate(program, given[1:])))
    return PLACE.sub(lambda found: _spell(_evaluate(program, found[1])), given)


def _evaluate(program: Interpreter, expression: str) -> Any:
    tree = parse_program(expression.strip())
    _require(len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr), f"{expression!r:.60} is not an expression")
    line = tree.body[0]
    assert isinstance(line, ast.Expr)
    program.meter.nested = 0
    return program.evaluate(line.value)


def _round(shown: Mapping[str, Any]) -> Any:
    _require("is" in shown, "an answer is not a plain value")
    return shown["is"]


def _spell(value: Any) -> str:
    _require(isinstance(value, str | int | float), "a place in a text is neither text nor number")
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _solve(solution: str, reference: Any) -> Any:
    """The cases of a function with the results of the template's own solution."""
    good = isinstance(reference, Mapping) and isinstance(reference.get("cases"), list)
    _require(good and isinstance(reference.get("name"), str), "a solution needs a reference with name and cases")
    program = Interpreter(Meter(STEPS))
    program.run(parse_program(solution))
    cases = []
    for given in reference["cases"]:
        _require(isinstance(given, list), "a case must be a list of arguments")
        cases.append([given, _round(show_result(program.call(reference["name"], given)))])
    return {**reference, "cases": cases}
