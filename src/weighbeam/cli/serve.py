"""`weighbeam serve`: the HTTP API and the dashboard; `weighbeam serve token`: who may call."""

import typer

from weighbeam.cli.serve_token import token_app
from weighbeam.cli.settings import ConfigOption, LogJson, LogLevel, open_settings, start_logs
from weighbeam.cli.shell import make_app

serve_app = make_app("Serve the HTTP API and the dashboard.", no_args_is_help=False, invoke_without_command=True)
serve_app.add_typer(token_app, name="token")


@serve_app.callback()
def serve(
    context: typer.Context, config: ConfigOption = None, log_json: LogJson = False, log_level: LogLevel = None
) -> None:
    """Serve the HTTP API and the dashboard until stopped. Needs no chain; `serve token` says who may call."""
    if context.invoked_subcommand is not None:
        context.obj = config
        return
    from weighbeam.operate.serve import run_service

    loaded = open_settings(config)
    start_logs(loaded, log_json, log_level)
    run_service(loaded)
