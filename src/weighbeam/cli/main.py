"""`weighbeam`: the root of all commands."""

from typing import Annotated

import typer

from weighbeam import __version__
from weighbeam.cli.alerts import alerts_app
from weighbeam.cli.ask import ask
from weighbeam.cli.backtest import backtest
from weighbeam.cli.config import config_app
from weighbeam.cli.demo import demo
from weighbeam.cli.doctor import doctor
from weighbeam.cli.lab import lab_app
from weighbeam.cli.lists import lists_app
from weighbeam.cli.mechanism import mechanism_app
from weighbeam.cli.novelty import novelty_app
from weighbeam.cli.pages import pages_app
from weighbeam.cli.read import copies, leaderboard, miner_report, rounds
from weighbeam.cli.receipt import receipt_app
from weighbeam.cli.replay import replay
from weighbeam.cli.round import show_round
from weighbeam.cli.run import miner, observer, validator
from weighbeam.cli.score import score_app
from weighbeam.cli.serve import serve_app
from weighbeam.cli.setup import setup
from weighbeam.cli.shell import Shell, make_app
from weighbeam.cli.store import store_app
from weighbeam.cli.vectors import vectors_app
from weighbeam.cli.weights import weights

app = make_app("Weighbeam runs incentive mechanisms: ask, observe, score, stand, weigh.", cls=Shell)
app.add_typer(serve_app, name="serve")
app.add_typer(score_app, name="score")
app.add_typer(novelty_app, name="novelty")
app.add_typer(vectors_app, name="vectors")
app.add_typer(config_app, name="config")
app.add_typer(pages_app, name="pages")
app.add_typer(lists_app, name="lists")
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
