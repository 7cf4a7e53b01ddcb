"""`weighbeam replay`, `receipt verify`, `store copy` and `vectors run`: recompute, check and copy records."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weighbeam.cli.common.options import AsJson, ConfigOption, StoreOption, find_journal_url
from weighbeam.cli.common.progress import show_rows
from weighbeam.cli.common.receipts import MAX_TOLD, NodeOption, load_receipt, report_signer
from weighbeam.cli.common.shell import EXIT_CHECK_FAILED, make_app, make_printable, print_json
from weighbeam.core.errors import WeighbeamError

if TYPE_CHECKING:
    from weighbeam.engine.vectors import CaseOutcome

vectors_app = make_app("Run test vectors (vectors/FORMAT.md).")


@vectors_app.callback()
def vectors_root() -> None:
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
    failures: list[CaseOutcome] = []
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


def _print_failures(failures: "list[CaseOutcome]") -> None:
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


store_app = make_app("The store of a journal.")


@store_app.callback()
def store_root() -> None:
    pass


@store_app.command()
def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A journal: its file or database URL.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="A file that does not exist, or an empty database.")],
    as_json: AsJson = False,
) -> None:
    """Copy a whole journal between files and PostgreSQL; its validator must be stopped. All or nothing is copied."""
    from weighbeam.engine.journal.transfer import copy_journal

    with show_rows("rows") as on_progress:
        done = copy_journal(source, target, on_progress)
    if as_json:
        print_json(asdict(done))
        return
    kept = sum(done.rows.values())
    typer.echo(f"{kept:,} rows copied and compared; the chain of {done.entries:,} entries holds")


def replay(
    store: StoreOption = None,
    config: ConfigOption = None,
    verify: Annotated[bool, typer.Option("--verify", help="Print differences and the verdict only.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line per entry.")] = False,
) -> None:
    """Compute every score, standing and decision again; exit 1 if anything differs by a bit."""
    from weighbeam.engine.journal.access import view_journal
    from weighbeam.engine.journal.replay import replay as replay_journal
    from weighbeam.mechanism.registry import load_mechanism

    journal = view_journal(find_journal_url(store, config))
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


receipt_app = make_app("Receipts that a validator signed.")


@receipt_app.callback()
def receipt_root() -> None:
    pass


@receipt_app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="A receipt as /v1/rounds/ROUND/receipts/HOTKEY or a desk gave it.")],
    node: NodeOption = None,
    as_json: AsJson = False,
) -> None:
    """Check a receipt offline: of a score, or of a contribution; exit 1 if it does not hold."""
    found = load_receipt(file)
    if found is None:
        raise WeighbeamError(
            "bad_receipt",
            f"{file} is an export",
            "give one receipt of it",
        )
    report_signer(found, node, as_json)
    if found.get("kind") == "score" and not as_json:
        told = f"{found['round']}: {found['hotkey']} was {found['status']} with {found['value']}"
        typer.echo(make_printable(told, MAX_TOLD))
