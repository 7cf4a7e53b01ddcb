"""Retrieval and borders beside rewards: the columns of terminal tables and of the page, one self-contained file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from weighbeam.cli.common.shell import make_printable
from weighbeam.cli.lab.options import save_text
from weighbeam.mechanism.untrusted import put_on_one_line
from weighbeam.mechanisms.chunking.ui.comparison import ChunkerComparison

STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0 2rem; display: block; overflow-x: auto; font-size: 14px; }
th, td { padding: .25rem .4rem; border-bottom: 1px solid #8884; text-align: right; white-space: nowrap; }
th { white-space: normal; vertical-align: bottom; font-size: 12px; }
th:first-child, td:first-child { text-align: left; padding-left: 0; position: sticky; left: 0; background: Canvas; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; font-size: 15px; }
.quiet { opacity: .75; }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
MAX_NAME = 60
WIDE = 170
"""Columns of a terminal from which a table shows every figure."""
Cells = tuple[list[str], list[list[str]]]


@dataclass(frozen=True, slots=True)
class FigureColumn:
    """A title, where its figure lies in a row, and whether a narrow terminal shows it too."""

    title: str
    path: tuple[str | int, ...]
    is_brief: bool = False

    def show(self, row: Mapping[str, Any]) -> str:
        value: Any = row
        for step in self.path:
            if isinstance(step, str) and step not in value:
                return "–"
            value = value[step]
        return _show(value)


def list_columns(rows: Sequence[Mapping[str, Any]]) -> list[FigureColumn]:
    """Those of the figures that rows may have beside their reward: `at`, `within` and `borders`; those that a narrow
    terminal shows come first, so that they are seen before a page is scrolled."""
    first: Mapping[str, Any] = next((row for row in rows if "at" in row), {})
    depths = first.get("at", [])
    ends = {"recall": (0, len(depths) - 1), "iou": (len(depths) - 1,), "precision": ()}
    columns = [
        FigureColumn(f"{title}@{depth['k']}", ("at", place, name), place in ends[name])
        for title, name in (("recall", "recall"), ("IoU", "iou"), ("precision", "precision"))
        for place, depth in enumerate(depths)
    ]
    if "within" in first:
        tokens = first["within"]["tokens"]
        columns.append(FigureColumn(f"in {tokens} tokens", ("within", "recall"), True))
        columns.append(FigureColumn(f"IoU in {tokens}", ("within", "iou")))
        columns.append(FigureColumn(f"precision in {tokens}", ("within", "precision")))
    if any("borders" in row for row in rows):
        columns.append(FigureColumn("Pk", ("borders", "pk"), True))
        columns.append(FigureColumn("WindowDiff", ("borders", "window_diff")))
        columns.append(FigureColumn("F1", ("borders", "f1"), True))
    return sorted(columns, key=lambda column: not column.is_brief)


def list_cells(rows: Sequence[Mapping[str, Any]], name: str, brief: bool = False) -> Cells:
    """Titles and cells; a narrow table leaves columns out."""
    columns = [column for column in list_columns(rows) if column.is_brief or not brief]
    counted = "valid" in rows[0]
    head = [name, *(["valid"] if counted else []), "reward", *(column.title for column in columns)]
    cells = [
        [
            put_on_one_line(str(row["name"])[: 4 * MAX_NAME])[:MAX_NAME],
            *([f"{row['valid']}/{row['documents']}"] if counted else []),
            _show(row["reward"]),
            *(column.show(row) for column in columns),
        ]
        for row in rows
    ]
    return head, cells


def _show(value: float | None) -> str:
    """
    >>> _show(0.25), _show(-1.24e87), _show(None)
    ('0.250', '-1.2e+87', '–')
    """
    if value is None:
        return "–"
    return f"{value:.3f}" if abs(value) < 1e4 else f"{value:.1e}"


def flatten_report(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of one document's report, as a comparison has them; best place first."""
    rows = sorted(report["answers"], key=lambda row: (row["place"] is None, row["place"] or 0.0, row["hotkey"]))
    return [
        {"name": row["hotkey"], "reward": row["reward"]}
        | {name: row["retrieval"][name] for name in ("at", "within") if "retrieval" in row}
        | ({"borders": row["borders"]} if "borders" in row else {})
        for row in rows
    ]


def has_check(report: Mapping[str, Any]) -> bool:
    return any("retrieval" in row or "borders" in row for row in report["answers"])


def title_check(report: Mapping[str, Any]) -> str:
    asked = max((row["retrieval"]["questions"] for row in report["answers"] if "retrieval" in row), default=0)
    return f"Retrieval by {asked} questions" if asked else "Borders"


def show_check(report: Mapping[str, Any]) -> None:
    """Retrieval and borders of one document's chunkings."""
    _print(title_check(report), flatten_report(report), "answer")


def show_comparison(comparison: ChunkerComparison) -> None:
    asked = sum(one.questions for one in comparison.documents)
    title = f"Chunkers over {len(comparison.documents)} documents, {asked} questions"
    _print(title, _name_rows(comparison), "chunker")


def _name_rows(comparison: ChunkerComparison) -> list[dict[str, Any]]:
    return [{"name": row["chunker"], **row} for row in comparison.summarise()]


def _print(title: str, rows: Sequence[Mapping[str, Any]], name: str) -> None:
    """On a narrow terminal fewer columns, whose titles may break over two lines."""
    brief = Console().width < WIDE
    head, cells = list_cells(rows, name, brief)
    spare = (0, int(not brief), 0, 0)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=spare, show_edge=not brief, title=title)
    for place, column in enumerate(head):
        table.add_column(column, justify="right" if place else "left", no_wrap=not place)
    for row in cells:
        table.add_row(*(Text(make_printable(cell, MAX_NAME)) for cell in row))
    Console().print(table)


def save_comparison(file: Path, comparison: ChunkerComparison) -> None:
    save_text(file, render_comparison(comparison))


def render_comparison(comparison: ChunkerComparison) -> str:
    """One page that loads nothing: means over all documents, then each document. Every name is escaped."""
    asked = sum(one.questions for one in comparison.documents)
    embedder = comparison.documents[0].report["senses"]["embedder"]["id"]
    tables = [_render_table("All documents", list_cells(_name_rows(comparison), "chunker"))]
    tables += [
        _render_table(f"{one.name}: {one.characters:,} characters", list_cells(flatten_report(one.report), "chunker"))
        for one in comparison.documents
    ]
    lead = f"{len(comparison.documents)} documents, {asked} questions, embedder {embedder}."
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="UTF-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>Chunkers compared</title><style>{STYLE}</style></head><body><h1>Chunkers compared</h1>"
        f'<p class="quiet">{escape(lead)} Means over the documents that a chunker cut validly. Higher is better, '
        "but for Pk and WindowDiff, which are error rates.</p>" + "".join(tables) + "</body></html>\n"
    )


def _render_table(caption: str, cells: Cells) -> str:
    head, rows = cells
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
