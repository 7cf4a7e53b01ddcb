"""`weighbeam replay`, `journal receipts`, `journal copy` and `vectors run`: recompute, check and copy records."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weighbeam.cli.common.options import AsJson, ConfigOption, StoreOption, find_journal_url, open_settings
from weighbeam.cli.common.progress import show_rows
from weighbeam.cli.common.receipts import MAX_TOLD, NodeOption, load_receipt, report_signer
from weighbeam.cli.common.shell import EXIT_CHECK_FAILED, make_app, make_printable, print_json
from weighbeam.core.errors import WeighbeamError

if TYPE_CHECKING:
    from weighbeam.chain.contract import Chain, StoredWeights
    from weighbeam.engine.journal.replay import ReplayedEntry
    from weighbeam.engine.proof.prove import Pins, Proof
    from weighbeam.engine.vectors import CaseOutcome

vectors_app = make_app("Run test vectors.")


@vectors_app.callback()
def vectors_root() -> None:
    pass


@vectors_app.command("run")
def run(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Vector files, or folders of them.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line per case.")] = False,
    stage: Annotated[
        list[str] | None, typer.Option(help="Only files of this stage, or of stages that start so.")
    ] = None,
) -> None:
    """Run every case and compare the results.

    Exits with 1 if any differs. A stage that is not known is a failure.
    """
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


def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A journal: its file or database URL.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="A file that does not exist, or an empty database.")],
    as_json: AsJson = False,
) -> None:
    """Copy a journal between files and PostgreSQL.

    Its validator must be stopped. All of it is copied, or nothing.
    """
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
    hotkey: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="The hotkey that must have signed; else the settings' wallet.")
    ] = None,
    head: Annotated[
        str | None, typer.Option(metavar="HEAD", help="A head kept elsewhere: its file, or SEQUENCE:HASH.")
    ] = None,
    chain: Annotated[bool, typer.Option("--chain", help="Compare submissions with the settings' chain too.")] = False,
    report: Annotated[Path | None, typer.Option(help="Write the result to this .json or .html file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line per entry, then the summary.")] = False,
) -> None:
    """Verify a journal by computing all of it again.

    Every score, standing and decision is computed again. The head, rows of evidence, the replies of miners and the
    tables of mechanisms are checked against what was signed. Exits with 1 if anything differs by a bit.
    """
    from weighbeam.engine.journal.access import count_entries, view_journal
    from weighbeam.engine.proof.prove import Proof
    from weighbeam.engine.proof.report import check_report_file, format_summary, save_report
    from weighbeam.mechanism.registry import load_mechanism

    if report is not None:
        check_report_file(report)
    place = find_journal_url(store, config)
    pins = _find_pins(place, hotkey, head, None if store is not None else config, store is None)
    journal = view_journal(place)
    proof = Proof(journal, load_mechanism, pins)
    lines = _print_proof(proof, count_entries(journal), verify, as_json)
    summary = proof.summary
    for result in _compare_chain(config, place) if chain else ():
        lines += 1
        if result.fault is not None:
            summary.faults.append(result)
        _print_line(result, verify, as_json)
    if not summary.end[0]:
        raise WeighbeamError("empty_journal", "the journal holds no entry", "name the journal of a validator")
    if report is not None:
        save_report(summary, report)
    if as_json:
        print_json(summary.as_json())
    else:
        for line in format_summary(summary):
            typer.echo(make_printable(line, MAX_TOLD))
        typer.echo(f"{lines} entries and tables computed again, {len(summary.faults)} differ")
    if summary.faults:
        raise typer.Exit(EXIT_CHECK_FAILED)


def _print_proof(proof: "Proof", entries: int, verify: bool, as_json: bool) -> int:
    """Print what is proved as it is; how many lines that were."""
    lines = 0
    # A bar and a line for each entry would fight for one terminal.
    with show_rows("entries") if verify and not as_json else nullcontext() as on_progress:
        for result in proof.lines():
            lines += 1
            _print_line(result, verify, as_json)
            if on_progress is not None:
                on_progress(min(lines, entries), entries)
    return lines


def _print_line(result: "ReplayedEntry", verify: bool, as_json: bool) -> None:
    if as_json:
        print_json({"sequence": result.sequence, "ref": result.ref, "fault": result.fault})
    elif result.fault is not None or not verify:
        said = "equal" if result.fault is None else make_printable(result.fault, 200)
        typer.echo(f"entry {result.sequence}, {make_printable(result.ref, 80)}: {said}")


def _find_pins(place: str, hotkey: str | None, head: str | None, config: Path | None, configured: bool) -> "Pins":
    """Facts about the journal from elsewhere: options, the head beside it, the settings' wallet."""
    from weighbeam.app.identity import open_hotkey
    from weighbeam.app.validator.build import locate_head
    from weighbeam.engine.journal.head import find_head_file, load_head
    from weighbeam.engine.proof.prove import Pins, parse_entry

    files = [find_head_file(place)]
    if configured:
        loaded = open_settings(config)
        files = [locate_head(loaded)]
        if hotkey is None:
            try:
                hotkey = open_hotkey(loaded).address
            except WeighbeamError as fault:
                told = f"the signer is not pinned, give --hotkey: {fault.message}"
                typer.echo(make_printable(told, MAX_TOLD), err=True)
    entry = None if head is None else parse_entry(head)
    if head is not None and entry is None:
        files.append(Path(head))
    kept = [load_head(file) for file in files if file is not None and (file.exists() or str(file) == head)]
    return Pins(hotkey, tuple(kept), entry)


def _compare_chain(config: Path | None, place: str) -> "Iterator[ReplayedEntry]":
    """The ledger of each mechanism that the settings run, against what the chain stores."""
    import asyncio

    from weighbeam.app.chains import find_own_hotkey, open_chain
    from weighbeam.app.identity import open_hotkey
    from weighbeam.engine.journal.access import view_journal
    from weighbeam.engine.journal.replay import ReplayedEntry
    from weighbeam.engine.rules.intents import find_chain_faults
    from weighbeam.engine.weights.ledger import Ledger

    loaded, store = open_settings(config), view_journal(place)
    key = open_hotkey(loaded)
    for name, section in sorted(loaded.settings.mechanisms.items()):
        chain = open_chain(loaded, key, section.mechid)
        stored = asyncio.run(_fetch_stored(chain, find_own_hotkey(loaded, key)))
        faults = list(find_chain_faults(Ledger(store, name).rows(), stored))
        found: list[str | None] = [*faults] or [None]
        for fault in found:
            yield ReplayedEntry(stored.block, f"{name} on the chain", fault)


async def _fetch_stored(chain: "Chain", hotkey: str) -> "StoredWeights":
    try:
        return await chain.stored(hotkey)
    finally:
        await chain.close()


receipts_app = make_app("Verify receipts and list signed replies.")


@receipts_app.callback()
def receipts_root() -> None:
    pass


@receipts_app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="A receipt as /v1/rounds/ROUND/receipts/HOTKEY or a desk gave it.")],
    node: NodeOption = None,
    as_json: AsJson = False,
) -> None:
    """Verify a receipt offline.

    It may be of a score or of a contribution. Exits with 1 if it does not hold.
    """
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


@receipts_app.command()
def replies(
    miner: Annotated[str, typer.Argument(metavar="MINER", help="Its name, uid or hotkey, or how the hotkey begins.")],
    round_id: Annotated[str | None, typer.Option("--round", metavar="ROUND", help="Only this round.")] = None,
    store: StoreOption = None,
    config: ConfigOption = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most this many, newest first.")] = 10,
    as_json: AsJson = False,
) -> None:
    """List a miner's signed replies in a journal.

    Checks that each answer is the one the miner signed, and says in which entry it stands and what it was worth.
    Exits with 1 if an answer is not what the miner signed.
    """
    from weighbeam.cli.common.options import open_names, open_read
    from weighbeam.cli.journal.reports import print_table, show_number
    from weighbeam.engine.journal.head import select_head
    from weighbeam.engine.proof.replies import list_replies

    journal = open_read(store, config)
    hotkey = open_names(journal, store, config).resolve(miner)
    with journal.read() as connection:
        head = select_head(connection)
        found = list(list_replies(connection, hotkey, round_id, limit))
    if not found:
        told = f"the journal holds no answer of {make_printable(hotkey, 80)}"
        raise WeighbeamError("unknown_hotkey", told, "name the hotkey as leaderboard --json shows it")
    signer = head.hotkey if head is not None and head.is_signed else None
    if as_json:
        print_json({"hotkey": hotkey, "signer": signer, "replies": [asdict(one) for one in found]})
    else:
        typer.echo(f"journal signed by {signer or 'nobody'}")
        words = {True: "yes", False: "NO", None: "unknown"}
        rows = [
            [one.round, one.sequence, one.entry[:16], one.status, show_number(one.value), words[one.is_signed]]
            for one in found
        ]
        print_table(("round", "entry", "hash", "status", "score", "as signed"), rows)
        for one in found:
            if one.fault is not None:
                typer.echo(make_printable(f"{one.round}: {one.fault}", MAX_TOLD))
    if any(one.fault is not None for one in found):
        raise typer.Exit(EXIT_CHECK_FAILED)
