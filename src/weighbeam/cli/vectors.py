"""`weighbeam vectors`: run language-neutral test vectors."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weighbeam.cli.shell import EXIT_CHECK_FAILED, make_app, make_printable, print_json

if TYPE_CHECKING:
    from weighbeam.engine.vectors import Outcome

vectors_app = make_app("Run test vectors (vectors/FORMAT.md).")


@vectors_app.callback()
def group() -> None:
    pass


@vectors_app.command("run")
def run(
    paths: Annotated[list[Path], typer.Argument(help="Vector files, or folders of them.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line per case.")] = False,
    stage: Annotated[
        list[str] | None, typer.Option(help="Only files of this stage, or of stages that start so.")
    ] = None,
) -> None:
    """Run every case and compare; exit 1 if any differs. A stage that is not known is a failure."""
    from weighbeam.engine.vectors import run_vectors

    counts: dict[bool | None, int] = {True: 0, False: 0, None: 0}
    failures: list[Outcome] = []
    for outcome in run_vectors(paths, tuple(stage or [""])):
        counts[outcome.ok] += 1
        if as_json:
            print_json(outcome.as_json())
        elif outcome.ok is False:
            failures.append(outcome)
    if not as_json:
        _print_failures(failures)
        nothing = f", {counts[None]} expect nothing" if counts[None] else ""
        typer.echo(f"{counts[True]} passed, {counts[False]} failed{nothing}")
    if counts[False]:
        raise typer.Exit(EXIT_CHECK_FAILED)


def _print_failures(failures: "list[Outcome]") -> None:
    if not failures:
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("file", "stage", "case", "first difference", title="Vectors that failed")
    for outcome in failures:
        cells = (Path(outcome.file).name, outcome.stage, outcome.name, outcome.differs)
        table.add_row(*(Text(make_printable(cell, 160)) for cell in cells))
    Console().print(table)
