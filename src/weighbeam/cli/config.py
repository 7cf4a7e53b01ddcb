"""`weighbeam config`: the settings in force."""

import os
from dataclasses import asdict
from typing import Annotated

import typer

from weighbeam.cli.settings import AsJson, ConfigOption, open_settings
from weighbeam.cli.shell import make_app, make_printable, print_json

config_app = make_app("Look at the settings.")


@config_app.callback()
def root() -> None:
    pass


@config_app.command()
def show(
    config: ConfigOption = None,
    origin: Annotated[bool, typer.Option("--origin", help="Say where each value came from.")] = False,
    as_json: AsJson = False,
) -> None:
    """Every setting with its value; secrets are not shown."""
    from weighbeam.engine.weigh_in.constants import find_ignored
    from weighbeam.settings.load import find_unknown
    from weighbeam.settings.origin import list_settings

    lines = list_settings(open_settings(config))
    for name in sorted({*find_unknown(os.environ), *find_ignored(os.environ)}):
        typer.echo(f"warning: {name} is set and sets nothing", err=True)
    if as_json:
        print_json({"settings": [asdict(line) for line in lines]})
        return
    import json

    width = max(len(line.name) for line in lines)
    for line in lines:
        value = make_printable(json.dumps(line.value), 80)
        told = f"   # {make_printable(line.origin, 80)}" if origin else ""
        typer.echo(f"{line.name:<{width}} = {value}{told}")
