"""`weighbeam replay`: recompute a journal without models or network, and name what differs."""

from pathlib import Path
from typing import Annotated

import typer

from weighbeam.cli.shell import EXIT_CHECK_FAILED, make_printable, print_json


def replay(
    store: Annotated[str, typer.Argument(help="A journal: the path of its file, or a database URL.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line per entry.")] = False,
) -> None:
    """Compute every score, standing and decision again; exit 1 if anything differs by a bit."""
    from weighbeam.core.errors import WeighbeamError
    from weighbeam.engine.replay import replay as replay_journal
    from weighbeam.mechanisms.registry import load_mechanism
    from weighbeam.store.database import Store

    if "://" not in store and not Path(store).is_file():
        raise WeighbeamError("no_such_file", f"{store} does not exist", "name the journal of a validator")
    journal = Store(store if "://" in store else f"sqlite:///{store}")
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
