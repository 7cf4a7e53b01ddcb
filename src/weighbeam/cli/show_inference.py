"""A round of inference on a terminal: who got what, what it means, and where its picture is."""

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from weighbeam.cli.shell import make_printable
from weighbeam.cli.show import COLOURS
from weighbeam.engine.story import Extra
from weighbeam.mechanisms.abilities import Told

NUMBERS = ("score", "quality", "agree", "words", "s", "emission")
COLUMNS = ("answer", "score", "quality", "agree", "words", "s", "emission", "in", "why not")
MOST_TEXT = 4000


def show_inference(report: dict[str, Any], heatmap: str | None) -> None:
    """Best first: score, quality, points for agreement, and what it earns."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), title="Answers, best first")
    for name in COLUMNS:
        table.add_column(name, justify="right" if name in NUMBERS else "left", no_wrap=name != "why not")
    inside = set(report["in_consensus"])
    for row in sorted(report["answers"], key=_order):
        table.add_row(*_cells(row, row["hotkey"] in inside, report["removed"]))
    console = Console()
    console.print(table)
    for line in (*_consensus(report), *report["reading"]):
        console.print(line, style="dim", markup=False, highlight=False)
    for fault in report["faults"]:
        Console(stderr=True).print(Text(f"our own fault, charged to nobody: {make_printable(fault, 200)}", "red"))
    if heatmap is not None:
        console.print(f"heatmap: {make_printable(heatmap, 200)}", style="dim", markup=False, highlight=False)
    console.print(f"params {report['params_hash'][:16]}", style="dim", markup=False, highlight=False)


def show_narrative(told: Told | Extra) -> None:
    """One paragraph, as wide as the terminal."""
    text = told.text if isinstance(told, Told) else (told.value or "")
    Console().print("\n" + make_printable(text, MOST_TEXT), markup=False, highlight=False)


def _cells(row: dict[str, Any], inside: bool, removed: dict[str, str]) -> list[Text]:
    quality, parts = row["quality"], row["parts"]
    why = ", ".join(row["reasons"]) or removed.get(row["hotkey"], "")
    return [
        Text(make_printable(row["hotkey"], 14), COLOURS[row["status"]]),
        _number(row["score"], ".1f"),
        _number(quality and quality["quality"], ".2f"),
        _number(parts and parts["similarity"], ".1f"),
        Text(str(quality["words"]) if quality else "–"),
        _number(row["seconds"], ".1f"),
        _number(row["emission"], ".3f"),
        Text("yes" if inside else ""),
        Text(make_printable(why, 40), "" if row["status"] == "valid" else "red"),
    ]


def _consensus(report: dict[str, Any]) -> list[str]:
    if report["void"]:
        return []
    verdict = "achieved" if report["achieved"] else "not achieved"
    best = report["best"]
    doubt = ", with low confidence" if report["low_confidence"] else ""
    named = "no answer" if best is None else f"{make_printable(best, 60)}{doubt}"
    return [f"consensus {report['consensus_score']:.3f}, {verdict}; best: {named}"]


def _order(row: dict[str, Any]) -> tuple[bool, float, str]:
    return row["score"] is None, -(row["score"] or 0.0), row["hotkey"]


def _number(value: float | None, form: str) -> Text:
    return Text("–" if value is None else format(value, form))
