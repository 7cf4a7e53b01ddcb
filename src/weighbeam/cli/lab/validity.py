"""`weighbeam lab validity`: hold a mechanism against labelled data."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weighbeam.cli.common.options import SetOption, complete_mechanism
from weighbeam.cli.common.overrides import load_overrides
from weighbeam.cli.common.shell import make_printable, print_json
from weighbeam.cli.lab.options import check_report, save_text, show_progress
from weighbeam.core.errors import require

if TYPE_CHECKING:
    from weighbeam.lab.validity.run import KindResult, ValidityResult
    from weighbeam.mechanism.base import Mechanism
    from weighbeam.senses.local import LocalSenses

Name = Annotated[str, typer.Argument(help="As weighbeam mechanism list names it.", autocompletion=complete_mechanism)]
Data = Annotated[
    list[Path] | None,
    typer.Argument(metavar="DATA", help="Files or folders of labelled rows; else the mechanism's own small sets."),
]
OnlySets = Annotated[list[str] | None, typer.Option("--only", metavar="SET", help="Only this set; may be repeated.")]
Limit = Annotated[int | None, typer.Option(min=1, help="At most so many rows of each set, spread evenly over it.")]
Format = Annotated[str | None, typer.Option("--format", help="Read only this format, instead of all that fit.")]
JsonFile = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write the figures as JSON; - prints them instead.")
]
HtmlFile = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page that needs nothing else.")]
STDOUT = Path("-")
SIDE_BY_SIDE = 4


def validity(
    mechanism: Name,
    data: Data = None,
    only: OnlySets = None,
    limit: Limit = None,
    format: Format = None,
    settings: SetOption = None,
    embedder: Annotated[str | None, typer.Option(help="Another embedder, as score --embedder takes it.")] = None,
    entailment: Annotated[str | None, typer.Option(help="nli-minilm or hf:MODEL.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the intervals.")] = 0,
    json_file: JsonFile = None,
    html: HtmlFile = None,
) -> None:
    """Compare scores with labelled data.

    Every figure has its interval.
    """
    from weighbeam.lab.validity.run import RowChoice, format_result, load_rows, run_validity
    from weighbeam.mechanism.params import make_params
    from weighbeam.mechanism.registry import load_mechanism

    loaded = load_mechanism(mechanism)
    params = make_params(loaded, load_overrides(None, settings))
    check_report(html)
    is_printed = json_file == STDOUT
    if json_file is not None and not is_printed:
        folder = json_file.absolute().parent.is_dir() and not json_file.is_dir()
        require(folder, "bad_report", f"{json_file} cannot be written", "name a file in a folder that exists")
    choice = RowChoice(tuple(only or ()), limit, format)
    rows = load_rows(loaded, data or [], choice)
    senses = open_bench_senses(loaded, embedder, entailment)
    with show_progress("rows") as on_done:
        result = run_validity(loaded, params, rows, senses, seed, choice, on_done)
    if is_printed:
        print_json(format_result(result))
    else:
        show_validity(result)
    if json_file is not None and not is_printed:
        save_text(json_file, json.dumps(format_result(result), allow_nan=False, indent=1) + "\n")
    if html is not None:
        from weighbeam.lab.validity.page import render_validity

        save_text(html, render_validity(result))
    for file in (json_file, html):
        if file is not None and not is_printed:
            typer.echo(f"written: {file}")


def open_bench_senses(mechanism: "Mechanism", embedder: str | None, entailment: str | None) -> "LocalSenses":
    """Those of the mechanism's lab, so that nothing is read from the web."""
    from weighbeam.engine.support.package_faults import contain
    from weighbeam.senses.local import LocalSenses

    named = {"embedder": embedder, "entailment": entailment}
    with contain(mechanism.name, "lab_senses"):
        options = {**mechanism.lab_senses(), **{name: value for name, value in named.items() if value is not None}}
        return LocalSenses(**options)


def show_validity(result: "ValidityResult") -> None:
    from weighbeam.cli.lab.tables import print_dim

    if result.data.is_sample:
        typer.echo(f"No DATA is named: these are the small sets that come with {make_printable(result.mechanism)}.")
    for kind in result.kinds:
        _show_figures(kind)
        if len(kind.sets) > 1:
            _show_sets(kind)
        if kind.confusion:
            _show_confusion(kind)
    rows = sum(found.rows for kind in result.kinds for found in kind.sets.values())
    left = "".join(f", {count} records left out of {kind}" for kind, count in result.data.left_out.items())
    print_dim(
        f"{rows} rows{left}, {result.seconds:.0f} s. 95 % intervals: Wilson's for shares, else {result.draws} draws "
        f"with replacement, seed {result.seed}."
    )


def _show_figures(kind: "KindResult") -> None:
    """Every figure with its interval: of the one set, or the mean of all."""
    from weighbeam.lab.validity.page import format_range, format_value, name_figure

    of = "mean of sets" if len(kind.sets) > 1 else make_printable(next(iter(kind.sets)), 30)
    rows = [
        (name_figure(name), format_value(one), format_range(one), str(one.cases), kind.meanings.get(name, ""))
        for name, one in kind.mean.items()
    ]
    _print_table(("figure", of, "95 %", "cases", "meaning"), rows, title=f"rows of kind {kind.kind}")


def _show_sets(kind: "KindResult") -> None:
    """A few sets side by side, as many as fit on a narrow terminal; their intervals are in the JSON and on the page."""
    from weighbeam.lab.validity.page import format_value, name_figure

    names = list(kind.sets)
    for some in (names[first : first + SIDE_BY_SIDE] for first in range(0, len(names), SIDE_BY_SIDE)):
        found = [kind.sets[name].measured.findings for name in some]
        rows = [
            (name_figure(figure), *(format_value(one[figure]) if figure in one else "–" for one in found))
            for figure in kind.mean
        ]
        counts = ("rows", *(str(kind.sets[name].rows) for name in some))
        _print_table(("", *some), [counts, *rows])


def _show_confusion(kind: "KindResult") -> None:
    assert kind.confusion is not None
    found = zip(kind.confusion.labels, kind.confusion.counts, strict=True)
    _print_table(("labelled / called", *kind.confusion.called), [(label, *map(str, row)) for label, row in found])


def _print_table(names: Sequence[str], rows: Sequence[Sequence[str]], title: str | None = None) -> None:
    """Names and sentences give way on a narrow terminal, numbers keep their place."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for number, name in enumerate(names):
        is_words = number == 0 or name == "meaning"
        table.add_column(Text(make_printable(name, 30)), justify="left" if is_words else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(make_printable(value, 200)) for value in row))
    Console().print(table)
