"""`weighbeam journal alerts`: list alerts; `alerts test` sends a test notification."""

import time
from dataclasses import asdict
from typing import Annotated

import typer

from weighbeam.cli.common.options import AsJson, ConfigOption, StoreOption, open_read, open_settings
from weighbeam.cli.common.shell import EXIT_CHECK_FAILED, make_app, make_printable, print_json

MAX_SHOWN = 400

alerts_app = make_app("List alerts and what to do about each.", no_args_is_help=False, invoke_without_command=True)


@alerts_app.callback()
def alerts(
    context: typer.Context,
    store: StoreOption = None,
    config: ConfigOption = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most this many.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List alerts and what to do about each."""
    if context.invoked_subcommand is not None:
        return
    from weighbeam.engine.views.alert_lines import list_alerts

    lines = list_alerts(open_read(store, config), limit=limit).items
    if as_json:
        print_json({"alerts": [asdict(line) for line in lines]})
        return
    for line in lines:
        at = time.strftime("%m-%d %H:%M:%SZ", time.gmtime(line.at))
        typer.echo(make_printable(f"{at} {line.level} {line.mechanism or '-'} {line.code}: {line.text}", MAX_SHOWN))
        typer.echo(f"    remedy: {make_printable(line.remedy, MAX_SHOWN)}")
    if not lines:
        typer.echo("no alert")


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
        raise WeighbeamError("bad_config", "nobody is told of alerts: alerts.urls is empty", "set it: docs/operate.md")
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
