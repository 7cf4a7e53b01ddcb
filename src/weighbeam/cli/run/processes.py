"""`weighbeam run` and `serve`, whose commands run until they are stopped, and `serve token`."""

import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from weighbeam.cli.common.options import AsJson, ConfigOption, LogJson, LogLevel, open_settings, start_logs
from weighbeam.cli.common.shell import make_app, print_json


def validator(
    config: ConfigOption = None,
    standby: Annotated[
        bool, typer.Option("--standby", help="Wait until the validator on this store is gone, then take over.")
    ] = False,
    log_json: LogJson = False,
    log_level: LogLevel = None,
) -> None:
    """Run a validator until it is stopped.

    It plays rounds, sets weights, removes old records and serves /health. One validator runs per hotkey; a second one
    may stand by.
    """
    from weighbeam.app.validator.run import run_validator

    loaded = open_settings(config)
    start_logs(loaded, log_json, log_level)
    run_validator(loaded, standby)


def observer(config: ConfigOption = None, log_json: LogJson = False, log_level: LogLevel = None) -> None:
    """Ask and observe miners for a validator.

    The validator scores and weighs. Any number of observers may run beside it.
    """
    from weighbeam.app.validator.observer import run_observer

    loaded = open_settings(config)
    start_logs(loaded, log_json, log_level)
    run_observer(loaded)


def miner(config: ConfigOption = None, log_json: LogJson = False, log_level: LogLevel = None) -> None:
    """Serve answers to validators until it is stopped.

    It announces its address on the chain.
    """
    from weighbeam.app.miner import run_miner

    loaded = open_settings(config)
    start_logs(loaded, log_json, log_level)
    run_miner(loaded)


run_app = make_app("Run a validator, an observer or a miner.")
run_app.command()(validator)
run_app.command()(observer)
run_app.command()(miner)

if TYPE_CHECKING:
    from weighbeam.engine.requests.tokens import Token
    from weighbeam.store.database import Store

token_app = make_app("Make, list and revoke API tokens.\n\nThey are kept in the settings' store.")


@token_app.command()
def new(
    context: typer.Context,
    name: Annotated[str, typer.Option(help="The owner; a name has one live token.")],
    scope: Annotated[
        list[str], typer.Option(help="A permission: ask, read, admin, check, submit, operate; may be repeated.")
    ],
    per_minute: Annotated[float | None, typer.Option(help="Its calls per minute, else the settings'.")] = None,
    priority: Annotated[
        Literal["low", "normal", "high"], typer.Option(help="The highest priority it may ask with.")
    ] = "normal",
    unranked: Annotated[bool, typer.Option("--unranked", help="It may ask without changing any standing.")] = False,
    expires_days: Annotated[float | None, typer.Option(help="Days until it opens nothing any more.")] = None,
    config: ConfigOption = None,
    as_json: AsJson = False,
) -> None:
    """Make a token and show it once.

    Only its hash is kept.
    """
    from weighbeam.engine.requests.queue import PRIORITIES
    from weighbeam.engine.requests.tokens import Grant, make_token

    grant = Grant(name, scope, per_minute, PRIORITIES[priority], unranked, expires_days)
    with closing(_open(context, config)) as store:
        token, shown = make_token(store, grant, time.time())
    if as_json:
        print_json({**_describe(token), "token": shown})
        return
    typer.echo(shown)
    typer.echo(f"{token.name} may {', '.join(sorted(token.scopes))}; keep it, it is not shown again", err=True)


@token_app.command("list")
def show(context: typer.Context, config: ConfigOption = None, as_json: AsJson = False) -> None:
    """List tokens, newest first, without secrets."""
    from weighbeam.engine.requests.tokens import list_tokens

    with closing(_open(context, config)) as store:
        rows = [_describe(token) for token in list_tokens(store)]
    if as_json:
        print_json({"tokens": rows})
        return
    for row in rows:
        typer.echo(f"{row['id']}  {row['state']:<8} {row['name']:<20} {','.join(row['scopes'])}")


@token_app.command()
def revoke(
    context: typer.Context,
    token_id: Annotated[str, typer.Argument(metavar="ID", help="As the list shows it.")],
    config: ConfigOption = None,
    as_json: AsJson = False,
) -> None:
    """Revoke a token.

    It stops working within a second or so; running servers need no restart.
    """
    from weighbeam.engine.requests.tokens import revoke_token

    with closing(_open(context, config)) as store:
        token = revoke_token(store, token_id, time.time())
    if as_json:
        print_json(_describe(token))
    else:
        typer.echo(f"{token.id} ({token.name}) is revoked")


def _open(context: typer.Context, config: Path | None) -> "Store":
    """The store of the settings named here, or before the sub-command."""
    from weighbeam.app.validator.build import open_store

    return open_store(open_settings(config or context.obj))


def _describe(token: "Token") -> dict[str, Any]:
    from weighbeam.engine.requests.queue import PRIORITIES

    state = "live" if token.is_live(time.time()) else "expired" if token.revoked is None else "revoked"
    names = {number: name for name, number in PRIORITIES.items()}
    return {
        "id": token.id,
        "name": token.name,
        "state": state,
        "scopes": sorted(token.scopes),
        "per_minute": token.per_minute,
        "priority": names[token.priority],
        "unranked": token.unranked,
        "created": token.created,
        "expires": token.expires,
        "revoked": token.revoked,
    }


serve_app = make_app("Serve the HTTP API and the dashboard.", no_args_is_help=False, invoke_without_command=True)
serve_app.add_typer(token_app, name="token")


@serve_app.callback()
def serve(
    context: typer.Context,
    config: ConfigOption = None,
    mcp: Annotated[bool, typer.Option("--mcp", help="Serve the tools of an MCP server on /mcp, read-only.")] = False,
    log_json: LogJson = False,
    log_level: LogLevel = None,
) -> None:
    """Serve the HTTP API and the dashboard.

    It runs until it is stopped and needs no chain. `weighbeam serve token` says who may call.
    """
    if context.invoked_subcommand is not None:
        context.obj = config
        return
    from weighbeam.app.service.server import run_service

    loaded = open_settings(config)
    start_logs(loaded, log_json, log_level)
    run_service(loaded, mcp)
