"""`weighbeam lab year`: many validators over many miners, through the exact Yuma epoch."""

from typing import Annotated

import typer

from weighbeam.cli.lab_options import ReportFile, check_report, save_report, show_progress
from weighbeam.cli.settings import AsJson
from weighbeam.cli.shell import print_json


def year(
    validators: Annotated[int, typer.Option(help="Validators, of equal stake.")] = 64,
    miners: Annotated[int, typer.Option(help="Miners.")] = 256,
    copiers: Annotated[int, typer.Option(help="Validators that set the consensus of the epoch before.")] = 0,
    colluders: Annotated[int, typer.Option(help="Validators that give half their weight to miners of their own.")] = 0,
    epochs: Annotated[int, typer.Option(help="Epochs of 72 minutes; 7300 are a year.")] = 7300,
    seed: Annotated[int, typer.Option(help="All chance follows from it.")] = 0,
    report: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Simulate a subnet of validators and chunking miners: how fair pay is, and what each kind of validator earns."""
    from weighbeam.cli.show_seasons import show_year
    from weighbeam.lab.records import write_record
    from weighbeam.lab.year_record import run_year

    check_report(report)
    with show_progress("epochs") as on_done:
        record = run_year(
            validators, miners, copiers, colluders, epochs, seed, lambda epoch: on_done(epoch + 1, epochs)
        )
    if as_json:
        print_json(write_record(record))
    else:
        show_year(record)
    save_report(report, [record], None, quiet=as_json)
