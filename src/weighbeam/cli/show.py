"""Scores on a terminal: a table to compare, a tree to understand. Every text from outside is made printable."""

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from weighbeam.cli.shell import make_printable
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.what_if import WhatIf
from weighbeam.mechanisms.contract import Node

MOST_LINE = 140
WIDE = 100
COLOURS = {"valid": "green", "failed": "red", "unscored": "yellow"}


def show_scores(result: WhatIf) -> None:
    """Any mechanism's scores, best first."""
    title = f"{result.mechanism.name}, best first"
    table = Table("answer", "status", "score", "reasons", box=SIMPLE_HEAD, title=title)
    sign = -1 if result.mechanism.better == "higher" else 1
    for score in sorted(result.scored.scores, key=lambda score: (score.value is None, sign * (score.value or 0.0))):
        table.add_row(
            _text(score.hotkey),
            Text(score.status, COLOURS[score.status]),
            _number(score.value, ".6g"),
            _text(", ".join(score.reasons)),
        )
    _print(table, result.report()["params_hash"])


def show_chunking(result: WhatIf, ignored: list[str], hint: bool) -> None:
    """Chunkings side by side, best first; more columns where the terminal is wide."""
    report = result.report()
    wide = Console().width >= WIDE
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, int(wide), 0, 0), title="Chunkings, best first")
    for name in ("#", "answer", "result", "reward", "similar", *(("within", "between") if wide else ()), "penalty"):
        table.add_column(name, justify="left" if name in ("answer", "result") else "right", no_wrap=True)
    table.add_column("chunks", justify="right")
    table.add_column("s", justify="right")
    for row in sorted(report["answers"], key=_order):
        table.add_row(*_chunking_cells(row, wide))
    limits = report["limits"]
    _print(table, report["params_hash"])
    _print_dim(
        f"limits: {limits['chunk_size']} characters, {limits['chunk_qty']} chunks, {limits['time_soft_max']:g} s; "
        f"embedder: {make_printable(report['senses']['embedder']['id'], 80)}"
    )
    best = report["best"]
    winner = "nobody: no answer is valid" if best is None else report["answers"][best]["hotkey"]
    _print_dim(f"best: {make_printable(winner, 60)}" + ("; --explain tells why" if hint else ""))
    for fault in report["faults"]:
        Console(stderr=True).print(Text(f"our own fault, charged to nobody: {make_printable(fault, 200)}", "red"))
    if ignored:
        names = make_printable(", ".join(ignored), 200)
        Console(stderr=True).print(Text(f"ignored, since nothing reads them: {names}", "yellow"))


def check_hotkeys(result: WhatIf, only: list[str]) -> None:
    """Refuse the name of an answer that is not there."""
    hotkeys = [score.hotkey for score in result.scored.scores]
    for hotkey in only:
        if hotkey not in hotkeys:
            known = ", ".join(hotkeys)
            raise WeighbeamError("unknown_hotkey", f"no answer is called {hotkey!r}", f"use one of: {known}")


def show_trees(result: WhatIf, only: list[str]) -> None:
    """How each score comes about, or those of the answers named."""
    for hotkey in only or [score.hotkey for score in result.scored.scores]:
        show_tree(result.explain(hotkey))


def show_tree(node: Node) -> None:
    Console().print("\n", _grow(node, bold=True), sep="")


def _grow(node: Node, bold: bool = False) -> Tree:
    tree = Tree(Text(make_printable(node.text, MOST_LINE), "bold" if bold else ""))
    for child in node.children:
        tree.children.append(_grow(child))
    return tree


def _chunking_cells(row: dict[str, Any], wide: bool) -> list[Text]:
    parts = row["parts"]
    verdict = row["status"] if row["failure"] is None else row["failure"]
    shown = ("similarity", "intra", "inter") if wide else ("similarity",)
    cells = [
        _number(row["place"], "g"),
        Text(make_printable(row["hotkey"], 22)),
        Text(verdict, COLOURS[row["status"]]),
        _number(row["reward"], ".5f" if not row["reward"] or abs(row["reward"]) >= 1e-5 else ".1e"),
    ]
    if parts is None:
        cells += [Text("")] * (len(shown) + 1)
    else:
        cells += [_number(parts[name], ".4f") for name in shown]
        cells.append(Text(f"×{parts['factor']:.3g}" if parts["factor"] >= 0.001 else f"×{parts['factor']:.0e}"))
    chunks = "" if row["spans"] is None else str(len(row["spans"]))
    return [*cells, Text(chunks), _number(row["seconds"], ".1f")]


def _order(row: dict[str, Any]) -> tuple[bool, float, str]:
    return row["place"] is None, row["place"] or 0.0, row["hotkey"]


def _text(value: str) -> Text:
    return Text(make_printable(value, 60))


def _number(value: float | None, form: str) -> Text:
    return Text("–" if value is None else format(value, form))


def _print(table: Table, params_hash: str) -> None:
    Console().print(table)
    _print_dim(f"params {params_hash[:16]}")


def _print_dim(line: str) -> None:
    Console().print(line, style="dim", markup=False, highlight=False)
