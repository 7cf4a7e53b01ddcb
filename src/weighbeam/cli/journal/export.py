"""`weighbeam journal export`: a journal as Parquet files."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weighbeam.cli.common.options import AsJson, ConfigOption, StoreOption, open_read
from weighbeam.cli.common.progress import show_rows
from weighbeam.cli.common.shell import print_json

if TYPE_CHECKING:
    from weighbeam.engine.export.run import ExportResult


def export(
    parquet: Annotated[
        Path, typer.Option("--parquet", metavar="DIR", help="Folder of the Parquet files; a new or an earlier one.")
    ],
    store: StoreOption = None,
    config: ConfigOption = None,
    as_json: AsJson = False,
) -> None:
    """Export a journal to Parquet files.

    Rounds, answers, scores, standings, weigh-ins, weights and submissions. A second run to the same folder adds only
    what is new. The journal is not touched; its validator may run.
    """
    from weighbeam.engine.export.run import export_journal

    with closing(open_read(store, config)) as journal, show_rows("entries") as on_progress:
        done = export_journal(journal, parquet, on_progress)
    if as_json:
        print_json(_list_result(done))
        return
    state = done.state
    if done.part is None:
        typer.echo(f"nothing new since entry {state.entry}")
    else:
        typer.echo(f"exported up to entry {state.entry}: {done.part}")
        for name, rows in state.rows.items():
            typer.echo(f"  {name}: {rows} rows")
    if state.waiting:
        typer.echo(f"submissions that are still open, for a later run: {len(state.waiting)}")
    for first, last in state.missing:
        typer.echo(f"entries {first} to {last} are missing: retention removed them before they were exported")


def _list_result(done: "ExportResult") -> dict[str, Any]:
    state = done.state
    return {
        "part": None if done.part is None else str(done.part),
        "rows": {} if done.part is None else dict(state.rows),
        "entry": state.entry,
        "hash": state.hash,
        "waiting": list(state.waiting),
        "missing": [list(one) for one in state.missing],
    }
