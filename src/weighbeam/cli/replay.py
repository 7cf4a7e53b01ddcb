"""`weighbeam replay`: recompute a journal without models or network, and name what differs."""

from typing import Annotated

import typer

from weighbeam.cli.read import StoreOption
from weighbeam.cli.shell import EXIT_CHECK_FAILED, make_printable, print_json


def replay(
    store: StoreOption,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line per entry.")] = False,
) -> None:
    """Compute every score, standing and decision again; exit 1 if anything differs by a bit."""
    from weighbeam.engine.read_journal import open_journal
    from weighbeam.engine.replay import replay as replay_journal
    from weighbeam.mechanisms.registry import load_mechanism

    journal = open_journal(store)
    entries = faults = 0
    for result in replay_journal(journal, load_mechanism):
        entries += 1
        faults += result.fault is not None
        if as_json:
            print_json({"sequence": result.sequence, "ref": result.ref, "fault": result.fault})
        elif result.fault is not None:
            typer.echo(
                f"entry {result.sequence}, {make_printable(result.ref, 80)}: {make_printable(result.fault, 200)}"
            )
    if not as_json:
        typer.echo(f"{entries} entries computed again, {faults} differ")
    if faults:
        raise typer.Exit(EXIT_CHECK_FAILED)
