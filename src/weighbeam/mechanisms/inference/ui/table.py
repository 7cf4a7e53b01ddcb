"""Inference scores on a terminal: scores, consensus and heatmap path."""

from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from weighbeam.cli.common.shell import make_printable
from weighbeam.cli.score.tables import COLOURS, format_number, print_dim, show_faults

if TYPE_CHECKING:
    pass

NUMBERS = ("score", "quality", "agree", "words", "s", "emission")
COLUMNS = ("answer", "score", "quality", "agree", "words", "s", "emission", "in", "why not")


def show_inference(report: dict[str, Any], heatmap: str | None) -> None:
    """Best first: score, quality, points for agreement, and what it earns."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), title="Answers, best first")
    for name in COLUMNS:
        table.add_column(name, justify="right" if name in NUMBERS else "left", no_wrap=name != "why not")
    inside = set(report["in_consensus"])
    for row in sorted(report["answers"], key=_order):
        table.add_row(*_cells(row, row["hotkey"] in inside, report["removed"]))
    Console().print(table)
    for line in (*_consensus(report), *report["reading"]):
        print_dim(line)
    show_faults(report["faults"])
    if heatmap is not None:
        print_dim(f"heatmap: {make_printable(heatmap, 200)}")
    print_dim(f"params {report['params_hash'][:16]}")


def _cells(row: dict[str, Any], inside: bool, removed: dict[str, str]) -> list[Text]:
    quality, parts = row["quality"], row["parts"]
    why = ", ".join(row["reasons"]) or removed.get(row["hotkey"], "")
    return [
        Text(make_printable(row["hotkey"], 14), COLOURS[row["status"]]),
        format_number(row["score"], ".1f"),
        format_number(quality and quality["quality"], ".2f"),
        format_number(parts and parts["similarity"], ".1f"),
        Text(str(quality["words"]) if quality else "–"),
        format_number(row["seconds"], ".1f"),
        format_number(row["emission"], ".3f"),
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
