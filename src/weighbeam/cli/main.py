"""The root of all `weighbeam` commands."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar

import typer

from weighbeam import __version__
from weighbeam.cli.common.extensions import (
    COMMANDS,
    build_group,
    describe_part,
    list_extensions,
    load_command,
    load_group,
    make_command,
)
from weighbeam.cli.common.help import find_commands
from weighbeam.cli.common.shell import Shell, make_app, make_printable
from weighbeam.cli.journal.commands import journal_app
from weighbeam.cli.journal.verification import replay, vectors_app
from weighbeam.cli.lab.commands import lab_app
from weighbeam.cli.lab.mechanisms import mechanism_app
from weighbeam.cli.run.ask import ask
from weighbeam.cli.run.demo import demo
from weighbeam.cli.run.init import init_app
from weighbeam.cli.run.installation import config_app, doctor, setup
from weighbeam.cli.run.processes import run_app, serve_app
from weighbeam.cli.score.commands import score_app
from weighbeam.core.errors import WeighbeamError

RENAMED = {
    "copies": "journal duplicates",
    "miner": "run miner",
    "observer": "run observer",
    "receipt": "journal receipts",
    "store": "journal copy",
    "validator": "run validator",
}
"""Commands whose new place their old name alone does not tell; the others are found by it."""
LONGEST_NAME = 40


class RootGroup(Shell):
    """The commands below, then those that packages add; a name that is taken stays with the command here.

    A command is built when it is asked for: the options of all of them take longer than most commands do.
    """

    parts: ClassVar[Mapping[str, typer.Typer | Callable[..., None]]] = {
        "demo": demo,
        "setup": setup,
        "doctor": doctor,
        "init": init_app,
        "config": config_app,
        "run": run_app,
        "serve": serve_app,
        "ask": ask,
        "score": score_app,
        "journal": journal_app,
        "replay": replay,
        "mechanism": mechanism_app,
        "lab": lab_app,
        "vectors": vectors_app,
    }
    panels: ClassVar = {
        "Start": ("init", "demo", "setup", "doctor", "config"),
        "Run": ("run", "serve", "ask"),
        "Score": ("score",),
        "Read a journal": ("journal", "replay"),
        "Design a mechanism": ("mechanism", "lab", "vectors"),
    }
    last_panel = "Of single mechanisms"

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.built: dict[str, Any] = {}

    def list_commands(self, _: Any) -> list[str]:
        own = self.order(self.parts)
        return [*own, *(name for name in list_extensions(COMMANDS) if name not in own)]

    def get_command(self, _: Any, cmd_name: str) -> Any:
        if cmd_name not in self.built:
            self.built[cmd_name] = self._build(cmd_name)
        return self.built[cmd_name]

    def _build(self, name: str) -> Any:
        part = self.parts.get(name)
        if part is None:
            return load_command(name)
        return build_group(name, part) if isinstance(part, typer.Typer) else make_command(name, part)

    def describe_command(self, ctx: Any, name: str) -> str | None:
        part = self.parts.get(name) or load_group(name)
        return super().describe_command(ctx, name) if part is None else describe_part(part)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """A name that only a group knows is an error that says where it is."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            places = [RENAMED[name]] if name in RENAMED else find_commands(self, name)
            if places:
                told = f"there is no command 'weighbeam {make_printable(name, LONGEST_NAME)}'"
                commands = " or ".join(f"weighbeam {place}" for place in places)
                raise WeighbeamError("unknown_command", told, f"use {commands}")
        return super().resolve_command(ctx, args)


app = make_app("Run incentive mechanisms and prove what they pay.", cls=RootGroup)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass
