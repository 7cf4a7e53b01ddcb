"""Commands that only look leave a journal as it was, an older version's too, and nothing beside it."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from lab.golden_journal import JOURNAL, VERSIONS
from warm import weighbeam_warm
from weighbeam.demo.subnet_files import save_subnet
from weighbeam.store.database import Store

HOTKEY = "5HGGxLEyt2pF1LSUJyZ7dFNsdFRqJZ7U5C5Y3Vc4KACmiALd"
COMMANDS = [
    ("journal", "rounds"),
    ("journal", "leaderboard"),
    ("journal", "weights"),
    ("journal", "duplicates"),
    ("journal", "alerts"),
    ("journal", "miner-report", HOTKEY),
    ("replay", "--verify"),
    ("novelty", "balances"),
    ("novelty", "history"),
    ("novelty", "audit"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_journal_stays_as_it_is(command: tuple[str, ...], tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    journal.write_bytes(JOURNAL.read_bytes())
    aside = tmp_path / "aside"
    aside.mkdir()
    done = weighbeam_warm(*command, "--store", journal, TMPDIR=str(aside))
    assert done.returncode == 0, done.stderr
    assert journal.read_bytes() == JOURNAL.read_bytes()
    assert sorted(path.name for path in tmp_path.rglob("*")) == [aside.name, journal.name]


OF_SETTINGS = [("journal", "weights", "--dry-run"), ("doctor",), ("config", "show")]
LONG_AGO = 10**18


@pytest.fixture
def subnet(tmp_path: Path) -> Path:
    """A written subnet whose first validator has a list of known validators, and no journal yet."""
    folder = tmp_path / "subnet"
    save_subnet(folder)
    (folder / "known.json").write_text(json.dumps({"version": 1, "updated": "now", "validators": [{"hotkey": HOTKEY}]}))
    return folder


def run_there(command: tuple[str, ...], subnet: Path) -> subprocess.CompletedProcess[str]:
    known = {"WEIGHBEAM_VALIDATOR__KNOWN_VALIDATORS": "known.json", "WEIGHBEAM_VALIDATOR__LISTEN": ""}
    return weighbeam_warm(*command, "--config", subnet / "validator-1.toml", **known)


def list_files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("command", OF_SETTINGS, ids=" ".join)
def test_a_journal_that_is_not_there_is_not_made(command: tuple[str, ...], subnet: Path) -> None:
    before = list_files(subnet)
    done = run_there(command, subnet)
    assert "Traceback" not in done.stderr
    assert list_files(subnet) == before


def test_a_dry_run_without_a_journal_says_what_to_do(subnet: Path) -> None:
    done = run_there(("journal", "weights", "--dry-run"), subnet)
    assert done.returncode == 2
    assert "no_such_file" in done.stderr
    assert "start the validator once" in done.stderr


@pytest.mark.parametrize("old", [True, False], ids=["older", "newest"])
@pytest.mark.parametrize("command", OF_SETTINGS, ids=" ".join)
def test_the_journal_of_settings_stays_as_it_is(command: tuple[str, ...], old: bool, subnet: Path) -> None:
    journal = subnet / "validator-1.db"
    journal.write_bytes(VERSIONS[0 if old else -1].joinpath("journal.sqlite").read_bytes())
    if not old:
        Store(f"sqlite:///{journal}").close()
    os.utime(journal, ns=(LONG_AGO, LONG_AGO))
    before, files = journal.read_bytes(), list_files(subnet)
    done = run_there(command, subnet)
    assert done.returncode == 0 or command == ("doctor",), done.stderr
    assert "Traceback" not in done.stderr
    assert journal.read_bytes() == before
    assert journal.stat().st_mtime_ns == LONG_AGO
    assert list_files(subnet) == files


@pytest.mark.parametrize("form", ["{}", "sqlite:///{}", "sqlite+pysqlite:///{}", "sqlite:///{}?timeout=60"])
def test_a_journal_is_named_by_its_file_or_by_any_url_of_it(form: str, tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    journal.write_bytes(JOURNAL.read_bytes())
    done = weighbeam_warm("journal", "leaderboard", "--store", form.format(journal), "--json")
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["mechanism"] == "chunking"


def test_names_of_a_strangers_journal_do_nothing_to_a_terminal(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    journal.write_bytes(JOURNAL.read_bytes())
    with closing(sqlite3.connect(journal)) as connection:
        connection.execute("UPDATE rounds SET mechanism = ? WHERE mechanism = 'novelty'", ("a\x1b]0;b\x07" * 900,))
        connection.commit()
    for command in (("journal", "leaderboard"), ("journal", "weights")):
        told = weighbeam_warm(*command, "--store", journal, "--mechanism", "chunking").stdout
        assert "a␛]0;b␇" in told
        assert "\x1b" not in told
        assert len(told.splitlines()[0]) < 300


def test_a_copy_aside_goes_when_the_command_is_told_to_end(tmp_path: Path) -> None:
    """A journal of an older version is looked at as a copy."""
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
app(["replay", "--store", {str(VERSIONS[0] / "journal.sqlite")!r}])
"""
    with subprocess.Popen(
        [sys.executable, "-c", look], stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    ) as process:
        assert process.stdout.readline() == "ready\n"
        assert [path.name[:15] for path in tmp_path.iterdir()] == ["weighbeam-view-"]
        process.terminate()
        assert process.wait(60) == 143
    assert list(tmp_path.iterdir()) == []
