"""Evidence scores on a terminal: snippets, refusals and the verdict."""

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from weighbeam.cli.common.shell import make_printable
from weighbeam.cli.score.tables import COLOURS, format_number, print_dim, show_faults

NUMBERS = ("value", "sum", "speed", "s")


def show_evidence(report: dict[str, Any], hint: bool) -> None:
    """Best first, with the way each snippet ended."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), title="Answers, best first")
    for name in ("answer", "value", "sum", "speed", "s", "snippets"):
        table.add_column(name, justify="right" if name in NUMBERS else "left", no_wrap=name != "snippets")
    for row in sorted(report["answers"], key=_order):
        parts = row["parts"] or {}
        table.add_row(
            Text(make_printable(row["hotkey"], 14), COLOURS[row["status"]]),
            format_number(row["value"], ".2f"),
            format_number(parts.get("sum"), ".2f"),
            format_number(parts.get("speed"), ".2f"),
            format_number(row["seconds"], ".1f"),
            _format_snippets(row),
        )
    console = Console()
    console.print(table)
    verdict = report["verdict"]
    told = (
        f"verdict: {verdict['verdict']}, confidence {verdict['confidence']:.2f} "
        f"(support {verdict['support']:.2f}, refute {verdict['refute']:.2f}, {verdict['domains']} domains)"
    )
    console.print(told, markup=False, highlight=False)
    best = "nobody" if report["best"] is None else make_printable(report["best"], 60)
    tail = "; --explain tells why" if hint else ""
    print_dim(f"best: {best}{tail}")
    print_dim(f"params {report['params_hash'][:16]}")
    show_faults(report["faults"])


def _format_snippets(row: dict[str, Any]) -> Text:
    if row["parts"] and row["parts"]["copy_of"]:
        return Text(f"copy of {make_printable(row['parts']['copy_of'], 20)}", "red")
    if not row["snippets"]:
        return Text(row["reason"] or "", "red")
    told = Text()
    for number, snippet in enumerate(row["snippets"]):
        told.append(", " if number else "")
        if snippet["copy_of"]:
            told.append(f"copy of {make_printable(snippet['copy_of']['hotkey'], 20)}", "red")
        elif snippet["accepted"]:
            told.append(f"{snippet['stance']} {snippet['score']:.2f}", "green")
        else:
            told.append(f"{snippet['reason']}", "yellow" if snippet["accepted"] is None else "red")
    return told


def _order(row: dict[str, Any]) -> tuple[bool, float, str]:
    return row["value"] is None, -(row["value"] or 0.0), row["hotkey"]
