"""Write the reference of the Python API from the docstrings of what `weighbeam` exports. `make docs` runs it."""

import ast
import inspect
import math
from collections.abc import Iterator
from importlib import import_module
from textwrap import dedent
from typing import Any

from wrap import wrap_page

import weighbeam

WIDTH = 100
HEAD = """# Python API

Written by `make docs` from the docstrings. These names are promised and no others: what `import weighbeam` does not
export may change. Each is imported when it is first used, so that `import weighbeam` alone loads neither numpy nor
pydantic, and scoring loads no database. Mistakes of a caller are a `WeighbeamError`.
"""
FUNCTIONS = (
    "score", "explain", "entail", "replay", "backtest", "check_mechanism", "load_mechanism", "open_novelty",
)  # fmt: skip
RESULTS = (
    "weighbeam.engine.scoring.ScoreResult",
    "weighbeam.api.EntailmentProbabilities",
    "weighbeam.api.JournalReplay",
    "weighbeam.lab.backtest.run.Backtest",
    "weighbeam.mechanism.checks.ContractFinding",
    "weighbeam.mechanisms.novelty.desk.desk.NoveltyDesk",
)
"""What the functions give. The classes are not exported: nobody but these functions makes one."""
DESK = ("submit", "check", "balance", "balances", "tokens", "verify")
AUTHOR = ("Mechanism", "Params")
RECORDS = ("Task", "Answer", "Asked", "Observation", "Score", "Scored", "Standing", "Weights", "Node")
SENSES = ("LocalSenses", "Senses")
ERRORS = ("WeighbeamError",)


def write_api() -> str:
    """The whole page."""
    sections = [
        ("Functions", [write_function(name, getattr(weighbeam, name)) for name in FUNCTIONS]),
        ("What they return", [write_class(_find(place)) for place in RESULTS]),
        ("Writing a mechanism", [write_class(getattr(weighbeam, name)) for name in AUTHOR]),
        ("Records", [write_class(getattr(weighbeam, name)) for name in RECORDS]),
        ("Senses", [write_class(getattr(weighbeam, name)) for name in SENSES]),
        ("Errors", [write_class(getattr(weighbeam, name)) for name in ERRORS]),
    ]
    return wrap_page(HEAD + "".join(f"\n## {title}\n\n" + "\n".join(parts) for title, parts in sections))


def write_function(name: str, function: Any) -> str:
    node = _parse(inspect.unwrap(function))
    return f"### {name}\n\n```text\n{format_signature(name, node)}\n```\n\n{format_docstring(node)}\n"


def write_class(kind: type) -> str:
    """The docstring, then its attributes and methods that are documented, each with its own."""
    node = _parse(kind)
    parts = [f"### {kind.__name__}\n"]
    made = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
    if made and kind.__name__ in weighbeam.__all__:
        parts.append(f"```text\n{format_signature(kind.__name__, made[0])}\n```\n")
    parts.append(f"{format_docstring(node)}\n")
    rows = [*_list_attributes(node), *_list_methods(node, DESK if kind.__name__ == "NoveltyDesk" else None)]
    if rows:
        parts.append("\n".join(f"- `{signature}`{f': {about}' if about else ''}" for signature, about in rows) + "\n")
    return "\n".join(parts)


def format_signature(name: str, node: ast.FunctionDef, width: float = WIDTH) -> str:
    """On one line if it fits, otherwise with one parameter per line."""
    returns = f" -> {format_type(node.returns)}" if node.returns is not None and node.name != "__init__" else ""
    given = list(_list_parameters(node.args))
    line = f"{name}({', '.join(given)}){returns}"
    if len(line) <= width:
        return line
    return "\n".join([f"{name}(", *(f"    {one}," for one in given), f"){returns}"])


def format_docstring(node: ast.FunctionDef | ast.ClassDef) -> str:
    """Paragraphs as they are, examples as a block."""
    blocks = (ast.get_docstring(node) or "").split("\n\n")
    return "\n\n".join(f"```pycon\n{block}\n```" if block.startswith(">>> ") else block for block in blocks)


def _list_attributes(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Public annotated names, with the text below each."""
    for one, below in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and not one.target.id.startswith("_"):
            default = f" = {ast.unparse(one.value)}" if isinstance(one.value, ast.Constant | ast.Tuple) else ""
            text = below.value.value if _is_text(below) else ""
            yield f"{one.target.id}: {format_type(one.annotation)}{default}", _join(text)


def _list_methods(node: ast.ClassDef, chosen: tuple[str, ...] | None) -> Iterator[tuple[str, str]]:
    """Public methods and properties; only `chosen` ones, if any are."""
    public = [one for one in node.body if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")]
    for one in (one for one in public if chosen is None or one.name in chosen):
        about = (ast.get_docstring(one) or "").split("\n\n>>> ")[0]
        is_property = any(isinstance(mark, ast.Name) and "property" in mark.id for mark in one.decorator_list)
        if is_property:
            yield f"{one.name}: {format_type(one.returns)}", _join(about)
        else:
            yield format_signature(one.name, one, math.inf), _join(about)


def _list_parameters(given: ast.arguments) -> Iterator[str]:
    """Each as it is written, and the star before those that are named."""
    first = len(given.args) - len(given.defaults)
    for number, one in enumerate(given.args):
        if one.arg in ("self", "cls"):
            continue
        yield _format_parameter(one, given.defaults[number - first] if number >= first else None)
    if given.kwonlyargs:
        yield "*"
    for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield _format_parameter(one, default)


def _format_parameter(one: ast.arg, default: ast.expr | None) -> str:
    return f"{one.arg}: {format_type(one.annotation)}" + ("" if default is None else f" = {ast.unparse(default)}")


def format_type(annotation: ast.expr | None) -> str:
    """As it is written; a forward reference without its quotes.

    >>> format_type(ast.parse("'tuple[Node, ...]'", mode="eval").body)
    'tuple[Node, ...]'
    """
    written = "Any" if annotation is None else ast.unparse(annotation)
    return written if "Literal[" in written else written.replace("'", "")


def _is_text(node: ast.stmt | None) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _join(text: str) -> str:
    return " ".join(text.split())


def _parse(thing: Any) -> Any:
    return ast.parse(dedent(inspect.getsource(thing))).body[0]


def _find(place: str) -> Any:
    module, _, name = place.rpartition(".")
    return getattr(import_module(module), name)
