"""Commands that only look leave a journal as it was, an older version's too, and nothing beside it."""

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
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_journal_stays_as_it_is(command: tuple[str, ...], tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    journal.write_bytes(JOURNAL.read_bytes())
    done = weighbeam_warm(*command, "--store", journal)
    assert done.returncode == 0, done.stderr
    assert journal.read_bytes() == JOURNAL.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == [journal.name]
