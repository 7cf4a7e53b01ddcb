"""Scores on a terminal, as tables and trees; text from outside is made printable."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from weighbeam.cli.common.shell import make_printable
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.numbers import format_short
from weighbeam.engine.scoring import ScoreResult
from weighbeam.mechanism.records import Node

MAX_LINE = 4000
"""Of a tree: a terminal wraps it, and no part of a sum is lost."""
MAX_TEXT = 4000
MAX_FAULTS = 5
COLOURS = {"valid": "green", "failed": "red", "unscored": "yellow"}


def show_scores(result: ScoreResult) -> None:
    """Any mechanism's scores, best first."""
    title = f"{result.mechanism.name}, best first"
    units = result.mechanism.page.count_units(result.params)
    score_title = "tokens" if result.mechanism.page.token_units else "score"
    table = Table("answer", "status", score_title, "reasons", box=SIMPLE_HEAD, title=title)
    sign = -1 if result.mechanism.better == "higher" else 1
    for score in sorted(result.scored.scores, key=lambda score: (score.value is None, sign * (score.value or 0.0))):
        table.add_row(
            _text(score.hotkey),
            Text(score.status, COLOURS[score.status]),
            format_number(None if score.value is None else score.value / units, ".6g"),
            _text(", ".join(score.reasons)),
        )
    Console().print(table)
    print_dim(f"params {result.report()['params_hash'][:16]}")
    unscored = [score.hotkey for score in result.scored.scores if score.status == "unscored"]
    causes = [cause.text for hotkey in unscored for cause in result.explain(hotkey).children]
    show_faults(list(dict.fromkeys(causes))[:MAX_FAULTS])


def check_hotkeys(result: ScoreResult, only: list[str]) -> None:
    """Refuse the name of an answer that is not there."""
    hotkeys = [score.hotkey for score in result.scored.scores]
    for hotkey in only:
        if hotkey not in hotkeys:
            known = ", ".join(hotkeys)
            raise WeighbeamError("unknown_hotkey", f"no answer is called {hotkey!r}", f"use one of: {known}")


def show_trees(result: ScoreResult, only: list[str]) -> None:
    """How each score comes about, or those of the answers named."""
    for hotkey in only or [score.hotkey for score in result.scored.scores]:
        show_tree(result.explain(hotkey))


def show_tree(node: Node) -> None:
    Console().print("\n", _grow(node, bold=True), sep="")


def _grow(node: Node, bold: bool = False) -> Tree:
    tree = Tree(Text(make_printable(node.text, MAX_LINE), "bold" if bold else ""))
    for child in node.children:
        tree.children.append(_grow(child))
    return tree


def show_narrative(text: str) -> None:
    """One paragraph, as wide as the terminal."""
    Console().print("\n" + make_printable(text, MAX_TEXT), markup=False, highlight=False)


def show_faults(faults: Sequence[str]) -> None:
    """Faults of the validator, apart from the scores."""
    for fault in faults:
        Console(stderr=True).print(Text(f"our own fault, charged to nobody: {make_printable(fault, 200)}", "red"))


def print_dim(line: str) -> None:
    Console().print(line, style="dim", markup=False, highlight=False)


def format_number(value: float | None, form: str) -> Text:
    return Text(format_short(value, form))


def _text(value: str) -> Text:
    return Text(make_printable(value, 60))
