"""The root of all `weighbeam` commands."""

from typing import Annotated, Any

import typer

from weighbeam import __version__
from weighbeam.cli.common.extensions import COMMANDS, list_extensions, load_command
from weighbeam.cli.common.shell import Shell, make_app
from weighbeam.cli.journal.alerts import alerts_app
from weighbeam.cli.journal.backtest import backtest
from weighbeam.cli.journal.export import journal_app
from weighbeam.cli.journal.reports import copies, leaderboard, miner_report, rounds, show_round
from weighbeam.cli.journal.verification import receipt_app, replay, store_app, vectors_app
from weighbeam.cli.journal.weights import weights
from weighbeam.cli.lab.commands import lab_app
from weighbeam.cli.lab.mechanisms import mechanism_app
from weighbeam.cli.run.ask import ask
from weighbeam.cli.run.demo import demo
from weighbeam.cli.run.installation import config_app, doctor, setup
from weighbeam.cli.run.processes import miner, observer, serve_app, validator
from weighbeam.cli.score.commands import score_app


class RootGroup(Shell):
    """The commands below, then those that packages add; a name that is taken stays with the command here."""

    def list_commands(self, ctx: Any) -> list[str]:
        own = super().list_commands(ctx)
        return [*own, *(name for name in list_extensions(COMMANDS) if name not in own)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, cmd_name) or load_command(cmd_name)


app = make_app("Weighbeam runs incentive mechanisms: ask, observe, score, stand, weigh.", cls=RootGroup)
app.add_typer(serve_app, name="serve")
app.add_typer(score_app, name="score")
app.add_typer(vectors_app, name="vectors")
app.add_typer(config_app, name="config")
app.add_typer(receipt_app, name="receipt")
app.add_typer(lab_app, name="lab")
app.command()(demo)
app.command()(validator)
app.command()(observer)
app.command()(miner)
app.command()(ask)
app.command()(rounds)
app.command("round")(show_round)
app.command()(leaderboard)
app.command()(weights)
app.add_typer(alerts_app, name="alerts")
app.command()(copies)
app.command("miner-report")(miner_report)
app.command()(replay)
app.add_typer(store_app, name="store")
app.add_typer(journal_app, name="journal")
app.command()(backtest)
app.add_typer(mechanism_app, name="mechanism")
app.command()(setup)
app.command()(doctor)


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
