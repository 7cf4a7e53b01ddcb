"""`weighbeam journal weights`: submissions, skipped weigh-ins, and a dry run of the next one."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weighbeam.cli.common.options import (
    AsJson,
    ConfigOption,
    MechanismOption,
    StoreOption,
    choose_mechanism,
    format_headline,
    open_names,
    open_read,
    open_settings,
)
from weighbeam.cli.common.progress import show_waiting
from weighbeam.cli.common.shell import make_printable, print_json
from weighbeam.cli.journal.reports import print_table, show_number

if TYPE_CHECKING:
    from weighbeam.app.settings.sources import LoadedSettings
    from weighbeam.engine.views.names import NameBook
    from weighbeam.engine.views.weights import SubmissionLine
    from weighbeam.store.database import Store

MAX_SHOWN = 400


def weights(
    store: StoreOption = None,
    config: ConfigOption = None,
    mechanism: MechanismOption = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most this many.")] = 10,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be set now; write nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """List submitted weights and skipped weigh-ins.

    With --dry-run, show the vector that would be set now.
    """
    if dry_run:
        _preview(config, mechanism, as_json)
        return
    from weighbeam.engine.views.rounds import list_mechanisms
    from weighbeam.engine.views.weights import find_version, list_submissions
    from weighbeam.engine.weights.audit import list_attempts

    journal = open_read(store, config)
    there = list_mechanisms(journal)
    name = choose_mechanism(mechanism, there)
    book, rows = open_names(journal, store, config), list_submissions(journal, name, limit=limit).items
    made = {(given := r.plan["params_hash"]): find_version(name, given) for r in rows}
    skips = [one for one in list_attempts(journal, name, limit) if one.kind == "skip"]
    if as_json:
        print_json(
            {
                "mechanism": name,
                "submissions": [
                    {
                        "id": r.id,
                        "state": r.state,
                        "reason": r.reason,
                        "at": r.at,
                        "weights": r.row,
                        "names": book.name_each(list_holders(r), name),
                        "plan": r.plan,
                        "defaults_of": made[r.plan["params_hash"]],
                    }
                    for r in rows
                ],
                "skips": [{"at": s.at, "mode": s.mode, "reason": s.reason, "detail": s.detail} for s in skips],
            }
        )
        return
    shown = [
        [
            r.id,
            _format_time(r.at),
            r.state,
            r.reason or "",
            r.plan["block"],
            r.plan["mode"],
            made[r.plan["params_hash"]] or r.plan["params_hash"][:8],
            _format_row(r, book),
        ]
        for r in rows
    ]
    typer.echo(format_headline(name, there))
    if shown:
        print_table(("id", "at", "state", "reason", "block", "mode", "params", "uid:value"), shown)
    else:
        typer.echo("nothing was submitted yet")
    for row in rows:
        if row.message and row.state in ("failed", "unknown"):
            typer.echo(make_printable(f"{row.id} {row.reason}: {row.message}", MAX_SHOWN))
    if skips:
        typer.echo("weigh-ins that set nothing:")
        lines = [[_format_time(s.at), s.mode, s.reason, len(s.detail.get("stale", []))] for s in skips]
        print_table(("at", "mode", "reason", "stale miners"), lines)


def _preview(config: Path | None, given: str | None, as_json: bool) -> None:
    import asyncio

    from weighbeam.app.chains import find_proxying, open_clock
    from weighbeam.app.identity import open_hotkey
    from weighbeam.app.validator.build import build_weigh_in_context, find_section, open_known
    from weighbeam.app.validator.checks import check_right, list_submission_checks
    from weighbeam.engine.views.names import load_names
    from weighbeam.engine.weights.weigh_in import preview

    loaded = open_settings(config)
    mechanism = choose_mechanism(given, sorted(loaded.settings.mechanisms))
    find_section(loaded, mechanism)
    store = _view_own(loaded)
    clock = open_clock(loaded)
    known = open_known(loaded, store, clock, keep=False)
    known.refresh()
    hotkey, proxying = open_hotkey(loaded), find_proxying(loaded)
    context = build_weigh_in_context(loaded, mechanism, store, hotkey, known)
    with show_waiting("reading the chain"):
        reading, assessed = asyncio.run(preview(context, clock.now(), close=True))
        right = None if proxying is None else asyncio.run(check_right(context.chain, hotkey.address, proxying))
    checks = list_submission_checks(context, reading, assessed)
    if right is not None:
        checks.insert(2, right)
    decision, mode = assessed.decision, assessed.mode
    reason = reading.fault.code if reading.fault is not None and decision.reason else decision.reason
    why = f", because {reason}" if reason else ""
    if as_json:
        print_json(
            {
                "action": decision.action,
                "reason": reason,
                "mode": mode.mode,
                "blocks": mode.blocks,
                "uids": decision.uids,
                "values": decision.values,
                "weights": decision.weights,
                "stale": decision.stale,
                "excluded": assessed.eligible.excluded,
                "proxy": proxying and {"signer": hotkey.address, "for": proxying.real, "type": proxying.kind},
                "checks": [{"check": c.name, "holds": c.holds, "detail": c.detail} for c in checks],
            }
        )
        return
    typer.echo(f"{mechanism}: mode {mode.mode}, {_format_age(mode.blocks)}: would {decision.action}{why}")
    row, book = dict(zip(decision.uids, decision.values, strict=True)), load_names(store, loaded.settings.aliases)
    units = context.mechanism.page.count_units(context.params)
    table: list[list[Any]] = [
        [p.uid, book.name(p.hotkey, mechanism) or "", p.hotkey, show_number(p.raw, units),
         f"{decision.weights.get(p.hotkey, 0):.2%}", row.get(p.uid, 0),
         "no success" if p.hotkey in decision.stale else ""]
        for p in sorted(assessed.weighing.payees, key=lambda p: (-p.raw, p.uid))
    ]  # fmt: skip
    print_table(("uid", "miner", "hotkey", "raw" if units == 1 else "tokens", "share", "u16", ""), table)
    for check in checks:
        typer.echo(f"{'✓' if check.holds else '✗'} {check.name}: {check.detail}")


def _view_own(loaded: "LoadedSettings") -> "Store":
    """The validator's journal, read-only: a dry run neither creates nor migrates it."""
    from weighbeam.core.errors import WeighbeamError
    from weighbeam.engine.journal.access import view_journal

    try:
        return view_journal(loaded.store_url())
    except WeighbeamError as fault:
        if fault.code not in ("no_such_file", "empty_journal"):
            raise
        remedy = "start the validator once to create its journal, or correct store.url"
        raise WeighbeamError(fault.code, fault.message, remedy) from None


def _format_age(blocks: int | None) -> str:
    return "age of our weights unknown" if blocks is None else f"{blocks} blocks since the last update"


def _format_time(seconds: float) -> str:
    return time.strftime("%m-%d %H:%M:%SZ", time.gmtime(seconds))


def list_holders(line: "SubmissionLine") -> list[str]:
    """The hotkeys that the row pays, in its order."""
    return [str(holder[0]) for holder in line.plan["holders"]]


def _format_row(line: "SubmissionLine", book: "NameBook") -> str:
    """Each uid with its value, and with its name if it has one."""
    names = book.name_each(list_holders(line), line.mechanism)
    both = zip(line.row, names, strict=True)
    return " ".join(f"{uid}:{value}" if name is None else f"{name}({uid}):{value}" for (uid, value), name in both)
