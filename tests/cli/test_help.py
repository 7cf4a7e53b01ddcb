"""What `--help` shows of every command: whole sentences, in panels, at any width."""

import ast
import re
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click
import pytest
import typer
from typer.testing import CliRunner

from command import weighbeam
from tests_root import ROOT as SOURCES
from weighbeam.cli.common.help import MAX_WIDTH, read_first_sentence
from weighbeam.cli.main import RENAMED, RootGroup, app

ROOT = typer.main.get_command(app)
THEIRS = {entry.name for entry in entry_points(group="weighbeam.mechanisms") if entry.module[:10] != "weighbeam."}
LONGEST = 50
MARGIN = 2
CLICK_DOTS = re.compile(r"\]?(\}|[A-Z>])\]?\.\.\.")
VERBS = {
    "Ask", "Attack", "Audit", "Check", "Combine", "Compare", "Copy", "Create", "Delete", "Draw", "Estimate", "Export",
    "Fetch", "Fit", "Import", "List", "Make", "Pay", "Play", "Read", "Replay", "Return", "Revoke", "Run", "Save",
    "Score", "Send", "Serve", "Show", "Sign", "Simulate", "Submit", "Verify", "Write",
}  # fmt: skip
OLD_NAMES = {
    "validator": "run validator", "observer": "run observer", "miner": "run miner", "rounds": "journal rounds",
    "round": "journal round", "leaderboard": "journal leaderboard", "weights": "journal weights",
    "miner-report": "journal miner-report", "alerts": "journal alerts", "copies": "journal duplicates",
    "receipt": "journal receipts", "store": "journal copy", "backtest": "lab backtest", "pages": "evidence pages",
    "lists": "evidence lists",
}  # fmt: skip


def walk(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    for name in command.list_commands(None) if hasattr(command, "list_commands") else ():
        if name not in THEIRS:
            yield from walk(command.get_command(None, name), (*words, name))


COMMANDS = dict(walk(ROOT))


def show_help(words: tuple[str, ...], columns: int) -> str:
    done = CliRunner().invoke(app, [*words, "--help"], prog_name="weighbeam", terminal_width=columns - MARGIN)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_begins_with_a_short_sentence_that_starts_with_a_verb(words: tuple[str, ...]) -> None:
    sentence = read_first_sentence(COMMANDS[words].help)
    assert len(sentence) <= LONGEST, sentence
    assert sentence.endswith("."), sentence
    assert sentence.split()[0].strip(",") in VERBS, sentence


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_nothing_is_cut_at_80_columns(words: tuple[str, ...]) -> None:
    """Every line fits, and every sentence of a command below is there as a whole, on the line of its name."""
    shown = show_help(words, 80)
    lines = shown.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert [line for line in lines if "..." in CLICK_DOTS.sub("", line)] == []
    for below, command in COMMANDS.items():
        if below and below[:-1] == words:
            sentence = read_first_sentence(command.help)
            assert [line for line in lines if line.strip().startswith(f"{below[-1]} ") and sentence in line], below


def test_a_wide_terminal_is_used_as_far_as_a_line_can_be_read() -> None:
    """In a real process: the width is that of its terminal."""
    longest = {
        columns: max(map(len, weighbeam("lab", "backtest", "--help", COLUMNS=columns).stdout.splitlines()))
        for columns in ("60", "80", "240")
    }
    assert longest["60"] <= 60 < longest["80"] <= 80 < longest["240"] <= MAX_WIDTH


@pytest.mark.parametrize("words", [words for words, group in COMMANDS.items() if getattr(group, "panels", None)])
def test_a_panel_names_commands_that_exist_once(words: tuple[str, ...]) -> None:
    """All of Weighbeam's own are in one; what a single mechanism adds to the root is listed last."""
    group = COMMANDS[words]
    named = [name for names in group.panels.values() for name in names]
    assert len(named) == len(set(named))
    assert set(group.list_commands(None)) - set(named) == (set() if words else {"evidence", "novelty"})
    assert set(named) <= set(group.list_commands(None))


@pytest.mark.parametrize(("old", "new"), OLD_NAMES.items())
def test_an_old_name_is_an_error_that_names_the_new_one(old: str, new: str) -> None:
    done = CliRunner().invoke(app, [old, "--json"])
    assert done.exit_code == 2
    assert f"use weighbeam {new}" in done.output
    assert ROOT.get_command(click.Context(ROOT), old) is None


def test_a_new_name_that_is_said_exists() -> None:
    assert {new for _, new in OLD_NAMES.items()} <= {" ".join(words) for words in COMMANDS}
    assert set(RENAMED.values()) <= {" ".join(words) for words in COMMANDS}
    assert isinstance(ROOT, RootGroup)


def test_a_misspelt_command_of_a_group_is_suggested() -> None:
    assert "use weighbeam journal leaderboard" in weighbeam("leaderbord").stderr
    told = weighbeam("leaderbord\x1b[31m")
    assert told.returncode == 2
    assert "\x1b" not in told.stderr
    assert "No such command 'qqqq'" in weighbeam("qqqq").stderr


def list_texts(path: Path) -> Iterator[tuple[int, str]]:
    """The strings of a module that are not docstrings."""
    tree = ast.parse(path.read_text())
    loose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in loose:
            yield node.lineno, node.value


def test_no_message_points_to_a_file_that_an_installed_package_lacks() -> None:
    """It names the command, or the page by its title."""
    files = sorted((SOURCES / "src/weighbeam").rglob("*.py"))
    found = [f"{path}:{line}" for path in files for line, text in list_texts(path) if re.search(r"\bdocs/\w", text)]
    assert found == []
