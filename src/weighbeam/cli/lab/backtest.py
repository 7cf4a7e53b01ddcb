"""`weighbeam lab backtest`: who gains and who loses if parameters change, over recorded rounds."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weighbeam.cli.common.options import (
    AsJson,
    ConfigOption,
    complete_mechanism,
    complete_setting,
    find_journal_url,
    open_names,
)
from weighbeam.cli.common.shell import print_json

if TYPE_CHECKING:
    from weighbeam.lab.backtest.overrides import BacktestOverrides
    from weighbeam.lab.backtest.play import BacktestCourse
    from weighbeam.lab.backtest.run import Elsewhere
    from weighbeam.lab.backtest.support import AllowedDifferences
    from weighbeam.store.database import Store

JournalOption = Annotated[
    str | None,
    typer.Option("--journal", "--store", help="A journal: its file or database URL; else the settings' store."),
]
EDGE = "a round, or a time (2027-01-15T08:00Z, or seconds)"


def backtest(
    journal: JournalOption = None,
    config: ConfigOption = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="MECHANISM.NAME or weigh_in.NAME otherwise; may be repeated.",
            autocompletion=complete_setting,
        ),
    ] = None,
    params: Annotated[Path | None, typer.Option(help="A JSON or TOML file of the same, a table for each.")] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(help="Only this one; its parameters may be named alone.", autocompletion=complete_mechanism),
    ] = None,
    start: Annotated[str | None, typer.Option("--from", help=f"Apply the parameters from here on: {EDGE}.")] = None,
    end: Annotated[str | None, typer.Option("--until", help=f"Read no further: {EDGE}.")] = None,
    weigh_every: Annotated[
        float | None, typer.Option(min=60.0, metavar="SECONDS", help="Weigh at regular times, not as recorded.")
    ] = None,
    python: Annotated[
        Path | None, typer.Option(help="Compare with what this interpreter's own weighbeam makes of it.")
    ] = None,
    keep_groups: Annotated[
        bool,
        typer.Option(
            "--keep-groups", help="Allow parameters that change which miners are asked; the recorded groups are reused."
        ),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Continue even if the journal differs or a mechanism does not say enough.")
    ] = False,
    outcomes: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Compare nothing: write what this version makes of it; - to show it."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most this many miners and rounds.")] = 6,
    as_json: AsJson = False,
) -> None:
    """Replay a journal under other parameters.

    Its rounds and weigh-ins are replayed under other parameters, or by another version, and compared: who gains, who
    loses, and which rounds explain it. The journal is not touched. What was not observed is refused.
    """
    from weighbeam.cli.common.overrides import load_overrides
    from weighbeam.cli.lab.backtest_tables import show_backtest
    from weighbeam.engine.journal.access import view_journal
    from weighbeam.lab.backtest.overrides import parse_overrides
    from weighbeam.lab.backtest.run import run_backtest
    from weighbeam.lab.backtest.support import AllowedDifferences

    terms, allowed = (
        parse_overrides(load_overrides(params, settings), mechanism),
        AllowedDifferences(keep_groups, force),
    )
    place = find_journal_url(journal, config)
    with closing(view_journal(place)) as store, _watch_entries(store) as on_entry:
        course = _make_course(start, end, mechanism, weigh_every, on_entry)
        if outcomes is not None:
            _save_outcomes(store, terms, course, allowed, outcomes)
            return
        version, elsewhere = None, None
        if python is not None:
            edges = {"--from": start, "--until": end, "--mechanism": mechanism, "--weigh-every": weigh_every}
            version, elsewhere = _ask_elsewhere(python, place, terms, allowed, edges)
        found = run_backtest(store, terms, course, allowed, elsewhere, version)
        book = open_names(store, journal, config)
    if as_json:
        print_json(found.as_json())
    else:
        show_backtest(found, limit, book)


def _make_course(
    start: str | None, end: str | None, only: str | None, weigh_every: float | None, on_entry: Callable[[], None] | None
) -> "BacktestCourse":
    from weighbeam.lab.backtest.play import BacktestCourse
    from weighbeam.lab.backtest.window import Window, parse_edge
    from weighbeam.mechanism.registry import load_mechanism

    return BacktestCourse(load_mechanism, Window(parse_edge(start), parse_edge(end)), only, weigh_every, on_entry)


def _save_outcomes(
    store: "Store", terms: "BacktestOverrides", course: "BacktestCourse", allowed: "AllowedDifferences", file: Path
) -> None:
    from weighbeam.lab.backtest.sources import list_outcomes, save_dump, save_lines

    found = list_outcomes(store, terms, course, allowed)
    if str(file) == "-":
        save_lines(found, sys.stdout)
    else:
        save_dump(found, file)
        typer.echo(f"what was led to is in {file}", err=True)


def _ask_elsewhere(
    python: Path,
    place: str,
    terms: "BacktestOverrides",
    allowed: "AllowedDifferences",
    edges: dict[str, str | float | None],
) -> "tuple[str, Elsewhere]":
    """The same request to another interpreter, which may differ from the record: that is what is asked."""
    from weighbeam.lab.backtest.sources import ask_version, stream_outcomes

    words = ["--journal", place]
    for name, value in terms.as_settings():
        words += ["--set", f"{name}={json.dumps(value)}"]
    for name, edge in edges.items():
        words += [] if edge is None else [name, str(edge)]
    words += ["--keep-groups"] if allowed.keep_groups else []
    return ask_version(python), partial(stream_outcomes, python, words)


@contextmanager
def _watch_entries(store: "Store") -> Iterator[Callable[[], None] | None]:
    """A bar on a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    from weighbeam.engine.journal.access import count_entries

    with Progress(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task("entries", total=count_entries(store))
        yield partial(bars.advance, bar)
