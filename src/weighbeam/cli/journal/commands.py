"""`weighbeam journal`: the group of commands that read, check and copy a journal."""

from typing import ClassVar

from weighbeam.cli.common.help import HelpGroup
from weighbeam.cli.common.shell import make_app
from weighbeam.cli.journal.alerts import alerts_app
from weighbeam.cli.journal.export import export
from weighbeam.cli.journal.reports import duplicates, leaderboard, miner_report, rounds, show_round
from weighbeam.cli.journal.verification import copy, receipts_app
from weighbeam.cli.journal.weights import weights


class JournalGroup(HelpGroup):
    """Contents of a journal, its proofs, and ways out of it."""

    panels: ClassVar = {
        "Read": ("leaderboard", "miner-report", "rounds", "round", "weights", "alerts", "duplicates"),
        "Check": ("receipts",),
        "Copy": ("export", "copy"),
    }


journal_app = make_app("Read, check and copy a validator's journal.", cls=JournalGroup)
journal_app.command()(rounds)
journal_app.command("round")(show_round)
journal_app.command()(leaderboard)
journal_app.command("miner-report")(miner_report)
journal_app.command()(weights)
journal_app.add_typer(alerts_app, name="alerts")
journal_app.command()(duplicates)
journal_app.add_typer(receipts_app, name="receipts")
journal_app.command()(export)
journal_app.command()(copy)
