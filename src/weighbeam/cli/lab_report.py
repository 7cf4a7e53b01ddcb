"""`weighbeam lab report`: one page of results that were written before."""

from pathlib import Path
from typing import Annotated

import typer

from weighbeam.cli.lab_options import check_report, save_report


def report(
    records: Annotated[list[Path], typer.Argument(help="JSON files that --report wrote: a bench, sweeps.")],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("lab.html"),
) -> None:
    """Put results that were written before on one page."""
    from weighbeam.lab.records import read_record

    check_report(out)
    save_report(out, [read_record(file) for file in records], None, quiet=False, numbers=False)
