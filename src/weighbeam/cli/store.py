"""`weighbeam store`: move a journal to where it has more room."""

from dataclasses import asdict
from typing import Annotated

import typer

from weighbeam.cli.progress import show_rows
from weighbeam.cli.settings import AsJson
from weighbeam.cli.shell import make_app, print_json

store_app = make_app("The store of a journal.")


@store_app.callback()
def root() -> None:
    pass


@store_app.command()
def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A journal: its file or database URL.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="A file that does not exist, or an empty database.")],
    as_json: AsJson = False,
) -> None:
    """Copy a whole journal between files and PostgreSQL; its validator must be stopped. All or nothing is copied."""
    from weighbeam.engine.copy_journal import copy_journal

    with show_rows("rows") as on_progress:
        done = copy_journal(source, target, on_progress)
    if as_json:
        print_json(asdict(done))
        return
    kept = sum(done.rows.values())
    typer.echo(f"{kept:,} rows copied and compared; the chain of {done.entries:,} entries holds")
