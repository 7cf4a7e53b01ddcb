"""The root of all `weighbeam` commands."""

from typing import Annotated, Any, ClassVar

import typer

from weighbeam import __version__
from weighbeam.cli.common.extensions import COMMANDS, list_extensions, load_command
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
    """The commands below, then those that packages add; a name that is taken stays with the command here."""

    panels: ClassVar = {
        "Start": ("init", "demo", "setup", "doctor", "config"),
        "Run": ("run", "serve", "ask"),
        "Score": ("score",),
        "Read a journal": ("journal", "replay"),
        "Design a mechanism": ("mechanism", "lab", "vectors"),
    }
    last_panel = "Of single mechanisms"

    def list_commands(self, ctx: Any) -> list[str]:
        own = super().list_commands(ctx)
        return [*own, *(name for name in list_extensions(COMMANDS) if name not in own)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, cmd_name) or load_command(cmd_name)

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
app.command()(demo)
app.command()(setup)
app.command()(doctor)
app.add_typer(init_app, name="init")
app.add_typer(config_app, name="config")
app.add_typer(run_app, name="run")
app.add_typer(serve_app, name="serve")
app.command()(ask)
app.add_typer(score_app, name="score")
app.add_typer(journal_app, name="journal")
app.command()(replay)
app.add_typer(mechanism_app, name="mechanism")
app.add_typer(lab_app, name="lab")
app.add_typer(vectors_app, name="vectors")


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
