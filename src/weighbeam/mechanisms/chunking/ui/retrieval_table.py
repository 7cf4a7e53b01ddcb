"""Retrieval and borders beside rewards: the columns of terminal tables and of the page, one self-contained file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
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
h2 { font-size: 1rem; margin: 1.8rem 0 .4rem; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: separate; border-spacing: 0; font-size: 14px; }
th, td { padding: .25rem .5rem; border-bottom: 1px solid #8884; text-align: right; white-space: nowrap; }
thead th { vertical-align: bottom; font-size: 12px; }
th[colspan] { text-align: center; border-bottom-color: #8888; }
tbody th { font-weight: normal; }
tbody th, th[rowspan]:first-child { text-align: left; padding-left: 0; position: sticky; left: 0; background: Canvas; }
tbody tr:hover > * { background: color-mix(in srgb, Canvas 93%, CanvasText); }
.quiet { opacity: .75; }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
MAX_NAME = 60
Cells = tuple[list[str], list[list[str]]]


@dataclass(frozen=True, slots=True)
class FigureColumn:
    """A figure: its title alone and below that of its group, where it lies in a row, and whether a narrow terminal
    shows it too."""

    group: str
    below: str
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
    """Those of the figures that rows may have beside their reward: `at`, `within` and `borders`; what tells most comes
    first, so that it is seen before a page is scrolled."""
    first: Mapping[str, Any] = next((row for row in rows if "at" in row), {})
    depths = [depth["k"] for depth in first.get("at", [])]
    columns = _list_depths("recall", depths, (0, len(depths) - 1))
    if "within" in first:
        tokens = first["within"]["tokens"]
        group = f"in {tokens} tokens"
        columns.append(FigureColumn(group, "recall", group, ("within", "recall"), True))
        columns.append(FigureColumn(group, "IoU", f"IoU in {tokens}", ("within", "iou")))
        columns.append(FigureColumn(group, "precision", f"precision in {tokens}", ("within", "precision")))
    if any("borders" in row for row in rows):
        columns.append(FigureColumn("borders", "Pk", "Pk", ("borders", "pk"), True))
        columns.append(FigureColumn("borders", "WindowDiff", "WindowDiff", ("borders", "window_diff")))
        columns.append(FigureColumn("borders", "F1", "F1", ("borders", "f1"), True))
    return columns + _list_depths("IoU", depths, (len(depths) - 1,)) + _list_depths("precision", depths, ())


def _list_depths(figure: str, depths: Sequence[int], brief: Sequence[int]) -> list[FigureColumn]:
    """One figure at each number of chunks."""
    return [
        FigureColumn(figure, f"@{k}", f"{figure}@{k}", ("at", place, figure.lower()), place in brief)
        for place, k in enumerate(depths)
    ]


def list_cells(rows: Sequence[Mapping[str, Any]], name: str, columns: Sequence[FigureColumn] | None = None) -> Cells:
    """Titles and cells; of all figures if none are named."""
    columns = list_columns(rows) if columns is None else columns
    head = [*_list_first(rows, name), *(column.title for column in columns)]
    cells = [
        [
            put_on_one_line(str(row["name"])[: 4 * MAX_NAME])[:MAX_NAME],
            *([f"{row['valid']}/{row['documents']}"] if "valid" in row else []),
            _show(row["reward"]),
            *(column.show(row) for column in columns),
        ]
        for row in rows
    ]
    return head, cells


def _list_first(rows: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    return [name, *(["valid"] if "valid" in rows[0] else []), "reward"]


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
    """On a narrow terminal fewer columns, whose titles may break over two lines; never half a figure."""
    console = Console()
    columns = list_columns(rows)
    cells = list_cells(rows, name, columns)
    is_brief = _measure(cells) + len(cells[0]) > console.width
    if is_brief:
        columns = [column for column in columns if column.is_brief]
        cells = list_cells(rows, name, columns)
    while columns and _measure(cells) > console.width:
        columns.pop()
        cells = list_cells(rows, name, columns)
    console.print(_make_table(title, cells, is_brief))


def _measure(cells: Cells) -> int:
    widths = _list_widths(cells)
    return sum(widths) + len(widths) - 1


def _list_widths(cells: Cells) -> list[int]:
    """How wide each column must be if titles break between words."""
    head, rows = cells
    return [max(map(len, (*title.split(), *column))) for title, *column in zip(head, *rows, strict=True)]


def _make_table(title: str, cells: Cells, is_brief: bool) -> Table:
    head, rows = cells
    spare = (0, int(not is_brief), 0, 0)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=spare, show_edge=False, title=title)
    for place, (column, width) in enumerate(zip(head, _list_widths(cells), strict=True)):
        table.add_column(column, justify="right" if place else "left", no_wrap=not place, min_width=width)
    for row in rows:
        table.add_row(*(Text(make_printable(cell, MAX_NAME)) for cell in row))
    return table


def save_comparison(file: Path, comparison: ChunkerComparison) -> None:
    save_text(file, render_comparison(comparison))


def render_comparison(comparison: ChunkerComparison) -> str:
    """One page that loads nothing: means over all documents, then each document. Every name is escaped."""
    asked = sum(one.questions for one in comparison.documents)
    embedder = comparison.documents[0].report["senses"]["embedder"]["id"]
    tables = [_render_table("All documents", _name_rows(comparison))]
    tables += [
        _render_table(f"{one.name}: {one.characters:,} characters", flatten_report(one.report))
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


def _render_table(caption: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Figures of one kind stand below one title."""
    columns = list_columns(rows)
    first = "".join(f'<th rowspan="2" scope="col">{escape(name)}</th>' for name in _list_first(rows, "chunker"))
    groups = "".join(
        f'<th colspan="{len(list(found))}" scope="colgroup">{escape(group)}</th>'
        for group, found in groupby(columns, lambda column: column.group)
    )
    below = "".join(f'<th scope="col">{escape(column.below)}</th>' for column in columns)
    body = "".join(f"<tr>{_render_row(row)}</tr>" for row in list_cells(rows, "chunker", columns)[1])
    return (
        f"<h2>{escape(caption)}</h2>"
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<thead><tr>{first}{groups}</tr><tr>{below}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _render_row(cells: Sequence[str]) -> str:
    return f'<th scope="row">{escape(cells[0])}</th>' + "".join(f"<td>{escape(cell)}</td>" for cell in cells[1:])
