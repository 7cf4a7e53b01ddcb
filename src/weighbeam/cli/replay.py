"""`weighbeam replay`: recompute a journal without models or network, and name what differs."""

from typing import Annotated

import typer

from weighbeam.cli.settings import ConfigOption, StoreOption, find_journal
from weighbeam.cli.shell import EXIT_CHECK_FAILED, make_printable, print_json
from weighbeam.core.errors import WeighbeamError


def replay(
    store: StoreOption = None,
    config: ConfigOption = None,
    verify: Annotated[bool, typer.Option("--verify", help="Print differences and the verdict only.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line per entry.")] = False,
) -> None:
    """Compute every score, standing and decision again; exit 1 if anything differs by a bit."""
    from weighbeam.engine.read_journal import view_journal
    from weighbeam.engine.replay import replay as replay_journal
    from weighbeam.mechanisms.registry import load_mechanism

    journal = view_journal(find_journal(store, config))
    entries = faults = 0
    for result in replay_journal(journal, load_mechanism):
        entries += 1
        faults += result.fault is not None
        if as_json:
            print_json({"sequence": result.sequence, "ref": result.ref, "fault": result.fault})
        elif result.fault is not None or not verify:
            said = "equal" if result.fault is None else make_printable(result.fault, 200)
            typer.echo(f"entry {result.sequence}, {make_printable(result.ref, 80)}: {said}")
    if not entries:
        raise WeighbeamError("empty_journal", "the journal holds no entry", "name the journal of a validator")
    if not as_json:
        typer.echo(f"{entries} entries and tables computed again, {faults} differ")
    if faults:
        raise typer.Exit(EXIT_CHECK_FAILED)
