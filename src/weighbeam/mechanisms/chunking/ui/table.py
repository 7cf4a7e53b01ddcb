"""Chunking scores on a terminal: chunkings side by side."""

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from weighbeam.cli.common.shell import make_printable
from weighbeam.cli.score.tables import COLOURS, format_number, print_dim, show_faults

WIDE = 100


def show_chunking(report: dict[str, Any], hint: bool) -> None:
    """Chunkings side by side, best first; more columns where the terminal is wide."""
    wide = Console().width >= WIDE
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, int(wide), 0, 0), title="Chunkings, best first")
    for name in ("#", "answer", "result", "reward", "similar", *(("within", "between") if wide else ()), "penalty"):
        table.add_column(name, justify="left" if name in ("answer", "result") else "right", no_wrap=True)
    table.add_column("chunks", justify="right")
    table.add_column("s", justify="right")
    for row in sorted(report["answers"], key=_order):
        table.add_row(*_cells(row, wide))
    limits = report["limits"]
    Console().print(table)
    print_dim(f"params {report['params_hash'][:16]}")
    print_dim(
        f"limits: {limits['chunk_size']} characters, {limits['chunk_qty']} chunks, {limits['time_soft_max']:g} s; "
        f"embedder: {make_printable(report['senses']['embedder']['id'], 80)}"
    )
    best = report["best"]
    winner = "nobody: no answer is valid" if best is None else report["answers"][best]["hotkey"]
    print_dim(f"best: {make_printable(winner, 60)}" + ("; --explain tells why" if hint else ""))
    show_faults(report["faults"])


def _cells(row: dict[str, Any], wide: bool) -> list[Text]:
    parts = row["parts"]
    verdict = row["status"] if row["failure"] is None else row["failure"]
    shown = ("similarity", "intra", "inter") if wide else ("similarity",)
    cells = [
        format_number(None if row["place"] is None else row["place"] + 1, "g"),
        Text(make_printable(row["hotkey"], 22)),
        Text(verdict, COLOURS[row["status"]]),
        format_number(row["reward"], ".5f"),
    ]
    if parts is None:
        cells += [Text("")] * (len(shown) + 1)
    else:
        cells += [format_number(parts[name], ".4f") for name in shown]
        cells.append(Text(f"×{parts['factor']:{'.3g' if wide else '.2g'}}"))
    chunks = "" if row["spans"] is None else str(len(row["spans"]))
    return [*cells, Text(chunks), format_number(row["seconds"], ".1f")]


def _order(row: dict[str, Any]) -> tuple[bool, float, str]:
    return row["place"] is None, row["place"] or 0.0, row["hotkey"]
