"""`weighbeam serve`: the HTTP API; `weighbeam serve token`: who may call it."""

import typer

from weighbeam.cli.serve_token import token_app
from weighbeam.cli.settings import ConfigOption, open_settings
from weighbeam.cli.shell import make_app

serve_app = make_app("Serve the HTTP API.", no_args_is_help=False, invoke_without_command=True)
serve_app.add_typer(token_app, name="token")


@serve_app.callback()
def serve(context: typer.Context, config: ConfigOption = None) -> None:
    """Serve the HTTP API until it is stopped. Needs no chain; `serve token` says who may call."""
    if context.invoked_subcommand is not None:
        context.obj = config
        return
    from weighbeam.operate.logs import start_logging
    from weighbeam.operate.serve import run_service

    loaded = open_settings(config)
    start_logging(loaded.settings.log)
    run_service(loaded)
