"""Commands that only look leave a journal as it was, an older version's too, and nothing beside it."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from lab.golden_journal import JOURNAL
from warm import weighbeam_warm

HOTKEY = "5HGGxLEyt2pF1LSUJyZ7dFNsdFRqJZ7U5C5Y3Vc4KACmiALd"
COMMANDS = [
    ("rounds",),
    ("leaderboard",),
    ("weights",),
    ("copies",),
    ("alerts",),
    ("miner-report", HOTKEY),
    ("replay", "--verify"),
    ("novelty", "balances"),
    ("novelty", "history"),
    ("novelty", "audit"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_journal_stays_as_it_is(command: tuple[str, ...], tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    journal.write_bytes(JOURNAL.read_bytes())
    aside = tmp_path / "aside"
    aside.mkdir()
    done = weighbeam_warm(*command, "--store", journal, TMPDIR=str(aside))
    assert done.returncode == 0, done.stderr
    assert journal.read_bytes() == JOURNAL.read_bytes()
    assert sorted(path.name for path in tmp_path.rglob("*")) == [aside.name, journal.name]


@pytest.mark.parametrize("form", ["{}", "sqlite:///{}", "sqlite+pysqlite:///{}", "sqlite:///{}?timeout=60"])
def test_a_journal_is_named_by_its_file_or_by_any_url_of_it(form: str, tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    journal.write_bytes(JOURNAL.read_bytes())
    done = weighbeam_warm("leaderboard", "--store", form.format(journal), "--json")
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["mechanism"] == "chunking"


def test_names_of_a_strangers_journal_do_nothing_to_a_terminal(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    journal.write_bytes(JOURNAL.read_bytes())
    with closing(sqlite3.connect(journal)) as connection:
        connection.execute("UPDATE rounds SET mechanism = ? WHERE mechanism = 'novelty'", ("a\x1b]0;b\x07" * 900,))
        connection.commit()
    for command in ("leaderboard", "weights"):
        told = weighbeam_warm(command, "--store", journal, "--mechanism", "chunking").stdout
        assert "a␛]0;b␇" in told
        assert "\x1b" not in told
        assert len(told.splitlines()[0]) < 300


def test_a_copy_aside_goes_when_the_command_is_told_to_end(tmp_path: Path) -> None:
    look = f"""
import signal
from weighbeam.cli.main import app
from weighbeam.engine.journal import access
view = access.view_journal
def wait(place):
    store = view(place)
    print("ready", flush=True)
    signal.pause()
access.view_journal = wait
app(["replay", "--store", {str(JOURNAL)!r}])
"""
    with subprocess.Popen(
        [sys.executable, "-c", look], stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    ) as process:
        assert process.stdout.readline() == "ready\n"
        assert [path.name[:15] for path in tmp_path.iterdir()] == ["weighbeam-view-"]
        process.terminate()
        assert process.wait(60) == 143
    assert list(tmp_path.iterdir()) == []
