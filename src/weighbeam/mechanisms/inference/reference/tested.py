"""A function in an answer, tried on the cases of its reference. It is interpreted, never executed."""

import json
import re
from typing import Any

from weighbeam.mechanisms.inference.interpreter.interpret import Interpreter
from weighbeam.mechanisms.inference.interpreter.limits import LimitReached, Meter, ProgramFault, Unsupported
from weighbeam.mechanisms.inference.interpreter.parse import parse_program
from weighbeam.mechanisms.inference.reference.kinds import Reference

FENCE = re.compile(r"```[ \t]*(?:python|py|Python)?[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL)
MAX_TEXT = 30_000
MAX_SHOWN = 2000
"""Characters of a result; no right one is longer."""


def try_function(reference: Reference, text: str) -> dict[str, Any]:
    """`{results}`, one for each case: `{is}`, or `{fault}`; `{why}` alone if nothing could be tried.

    `unsupported` says that the code uses something the interpreter does not know.
    """
    source = find_code(text[-MAX_TEXT:], reference.name)
    if source is None:
        return {"results": None, "why": "no function"}
    meter = Meter()
    program = Interpreter(meter)
    try:
        program.run(parse_program(source))
        return {"results": [_try_case(program, reference.name, case[0]) for case in reference.cases]}
    except Unsupported as fault:
        return {"results": None, "why": "unsupported", "what": str(fault)[:40]}
    except (LimitReached, ProgramFault) as fault:
        return {"results": None, "why": "fault", "what": str(fault)[:40]}


def _try_case(program: Interpreter, name: str, given: list[Any]) -> dict[str, Any]:
    try:
        result = program.call(name, json.loads(json.dumps(given)))
    except (LimitReached, ProgramFault) as fault:
        return {"fault": str(fault)[:40]}
    return show_result(result)


def show_result(result: Any) -> dict[str, Any]:
    """A result as plain JSON: tuples as lists, sets as sorted lists; whole floats as they are.

    >>> show_result((1, [2.5, "a"])), show_result({1: 2})
    ({'is': [1, [2.5, 'a']]}, {'is': {'1': 2}})
    """
    try:
        plain = _to_json(result)
        if len(json.dumps(plain, allow_nan=False)) > MAX_SHOWN:
            return {"fault": "large"}
    except (TypeError, ValueError, RecursionError):
        return {"fault": "not a plain value"}
    return {"is": plain}


def _to_json(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_to_json(one) for one in value]
    if isinstance(value, set):
        return sorted(_to_json(one) for one in value)
    if isinstance(value, dict):
        return {str(key): _to_json(one) for key, one in value.items()}
    if isinstance(value, float):
        return round(value, 9)
    if value is None or isinstance(value, bool | int | str):
        return value
    raise TypeError("not a plain value")


def find_code(text: str, name: str) -> str | None:
    """The last block that defines the function; without blocks, from its definition on.

    >>> find_code("Here: def f(x): return x", "f")
    'def f(x): return x'
    """
    defined = re.compile(rf"^[ \t]*def[ \t]+{re.escape(name)}[ \t]*\(", re.MULTILINE)
    blocks = [block for block in FENCE.findall(text) if defined.search(block)]
    if blocks:
        return str(blocks[-1])
    start = re.search(rf"\bdef[ \t]+{re.escape(name)}[ \t]*\(", text)
    return None if start is None else _cut_prose(text[start.start() :])


def _cut_prose(source: str) -> str:
    """Up to the first line that is neither indented nor empty: what people write below their code."""
    first, *rest = source.splitlines()
    for number, line in enumerate(rest):
        if line.strip() and not line[0].isspace() and not line.startswith(("def ", "return")):
            return "\n".join([first, *rest[:number]])
    return source
