"""`weighbeam journal alerts`: list alerts; `alerts test` sends a test notification."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from weighbeam.cli.common.options import AsJson, ConfigOption, StoreOption, open_read, open_settings
from weighbeam.cli.common.shell import EXIT_CHECK_FAILED, make_app, make_printable, print_json

MAX_SHOWN = 400
MAX_READ = 10_000
"""Alerts that are grouped, the newest of them."""

if TYPE_CHECKING:
    from weighbeam.engine.views.alert_lines import AlertLine

alerts_app = make_app("List alerts and what to do about each.", no_args_is_help=False, invoke_without_command=True)


@alerts_app.callback()
def alerts(
    context: typer.Context,
    store: StoreOption = None,
    config: ConfigOption = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most this many kinds.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List alerts and what to do about each."""
    if context.invoked_subcommand is not None:
        return
    from weighbeam.engine.views.alert_lines import list_alerts

    journal = open_read(store, config)
    if as_json:
        print_json({"alerts": [asdict(line) for line in list_alerts(journal, limit=limit).items]})
        return
    groups = group_alerts(list_alerts(journal, limit=MAX_READ).items)
    for alerts in list(groups)[:limit]:
        _show_group(alerts)
    if not groups:
        typer.echo("no alert")
    elif len(groups) > limit:
        typer.echo(f"{len(groups) - limit} older kinds are left out: --limit {len(groups)} shows them")


def group_alerts(lines: "Iterable[AlertLine]") -> "list[list[AlertLine]]":
    """Repetitions of an alert together, newest first: those of one code and level, of any mechanism."""
    groups: dict[tuple[str, str], list[AlertLine]] = {}
    for line in lines:
        groups.setdefault((line.code, line.level), []).append(line)
    return list(groups.values())


def _show_group(alerts: "Sequence[AlertLine]") -> None:
    newest, oldest = alerts[0], alerts[-1]
    mechanisms = list(dict.fromkeys(line.mechanism for line in alerts if line.mechanism))
    about = f" ({', '.join(mechanisms)})" if mechanisms else ""
    often = f", {len(alerts)} times since {_format_time(oldest.at)}" if len(alerts) > 1 else ""
    head = f"{_format_time(newest.at)} {newest.level} {newest.code}{about}{often}"
    typer.echo(make_printable(head, MAX_SHOWN))
    typer.echo(f"    {make_printable(newest.text, MAX_SHOWN)}")
    remedy = newest.remedy
    if newest.mechanism is not None:
        remedy = remedy.replace("--mechanism NAME", f"--mechanism {newest.mechanism}")
    typer.echo(f"    remedy: {make_printable(remedy, MAX_SHOWN)}")


def _format_time(at: float) -> str:
    return time.strftime("%m-%d %H:%M:%SZ", time.gmtime(at))


@alerts_app.command("test")
def try_receivers(config: ConfigOption = None, as_json: AsJson = False) -> None:
    """Send a test notice to every alert address.

    The addresses are those of alerts.urls. Exits with 1 if one of them does not take it.
    """
    from weighbeam.app.identity import open_hotkey
    from weighbeam.app.notices.notifier import parse_receivers, send_test
    from weighbeam.core.errors import WeighbeamError

    loaded = open_settings(config)
    receivers = parse_receivers(loaded)
    if not receivers:
        raise WeighbeamError(
            "bad_config",
            "no alert can be sent: alerts.urls is empty",
            'set it in [alerts], such as urls = ["discord://ID/TOKEN"]',
        )
    hotkey = open_hotkey(loaded).address
    outcomes = [(receiver.shown, send_test(receiver, hotkey)) for receiver in receivers]
    if as_json:
        rows = [{"to": shown, "taken": fault is None, "fault": fault and fault.message} for shown, fault in outcomes]
        print_json({"receivers": rows})
    else:
        for shown, fault in outcomes:
            typer.echo(f"{'✓' if fault is None else '✗'} {shown if fault is None else make_printable(fault.message)}")
    if any(fault is not None for _, fault in outcomes):
        raise typer.Exit(EXIT_CHECK_FAILED)
