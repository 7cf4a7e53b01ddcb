"""Options that the lab commands share: size of a run, workers, and the report file."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weighbeam.cli.common.options import complete_setting
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.extras import require_extra

if TYPE_CHECKING:
    from weighbeam.lab.attack.comparison import AttackFinding
    from weighbeam.lab.report.records import LabRecord
    from weighbeam.lab.trials.jobs import OnDone
    from weighbeam.lab.trials.processes import Spread

Names = Annotated[
    list[str] | None, typer.Argument(metavar="NAME", help="Attacks, families or mechanisms; all if none is named.")
]
Rounds = Annotated[int | None, typer.Option(help="Rounds of a season.")]
Seeds = Annotated[int | None, typer.Option(help="Seasons of each attack, with seeds 0, 1, 2, …")]
Workers = Annotated[int, typer.Option(help="Processes that play; 0 is one per core.")]
RayAddress = Annotated[
    str | None,
    typer.Option("--ray", metavar="ADDRESS", help="Let Ray play: local, auto or host:port (extra weighbeam[ray])."),
]
ReportFile = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Write a page that needs nothing else, and its numbers as JSON."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Set one parameter; MECHANISM.NAME if several are played.",
        autocompletion=complete_setting,
    ),
]


def choose_spread(workers: int, ray: str | None) -> "Spread":
    from weighbeam.lab.trials.processes import Processes
    from weighbeam.lab.trials.ray_tasks import RayTasks

    return Processes(workers) if ray is None else RayTasks(ray, workers)


def check_report(file: Path | None) -> None:
    """Before hours of work: whether its result can be written."""
    if file is None:
        return
    require_extra("charts")
    if file.suffix.lower() != ".html":
        raise WeighbeamError("bad_report", f"{file.name} is not a page", "end it with .html")
    if not file.absolute().parent.is_dir() or file.is_dir():
        raise WeighbeamError("bad_report", f"{file} cannot be written", "name a file in a folder that exists")
    new = not file.exists()
    try:
        file.open("ab").close()
    except OSError as fault:
        raise WeighbeamError("bad_report", f"{file}: {fault.strerror}", "name a file that can be written") from None
    if new:
        file.unlink()


def save_report(
    file: Path | None,
    records: "Sequence[LabRecord]",
    findings: "tuple[AttackFinding, ...] | None",
    quiet: bool,
    numbers: bool = True,
) -> None:
    """The page, and each record beside it unless that is where it came from."""
    if file is None:
        return
    import json

    from weighbeam.lab.report.page import Report, render_report
    from weighbeam.lab.report.records import format_record

    if numbers:
        for record in records:
            save_text(file.with_suffix(".json"), json.dumps(format_record(record), allow_nan=False, indent=1) + "\n")
    save_text(file, render_report(Report(tuple(records), findings)))
    if not quiet:
        typer.echo(f"report: {file}" + (f", numbers: {file.with_suffix('.json')}" if numbers else ""))


def save_text(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as fault:
        raise WeighbeamError("bad_report", f"{file}: {fault.strerror}", "name a file that can be written") from None


@contextmanager
def show_progress(what: str = "seasons") -> Iterator["OnDone"]:
    """A bar on a terminal, silence elsewhere."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task("", total=None)

        def on_done(done: int, total: int) -> None:
            bars.update(bar, completed=done, total=total)

        yield on_done
