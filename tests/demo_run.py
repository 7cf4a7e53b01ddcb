"""One demo for all tests that look at one: it takes more than a minute."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

from command import weighbeam

TRIES = 3
KEPT = "demo.json"
LATE = ("slow", "silent")
"""Whose trick it is to be late."""
Played = tuple[dict[str, Any], Path]


def play_demo(make_folder: Callable[[], Path]) -> Played:
    """What it came to, and where its files are. One that this machine was too busy for is played again."""
    for _ in range(TRIES):
        folder = make_folder()
        done = weighbeam("demo", "--rounds", 2, "--folder", folder, "--json")
        if done.returncode == 0 and not was_too_busy(json.loads(done.stdout)):
            break
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout), folder


def keep_demo(folder: Path) -> None:
    """Play one in a folder for other processes to find."""
    tries = count(1)
    played = play_demo(lambda: folder / f"demo-{next(tries)}")
    (folder / KEPT).write_text(json.dumps([played[0], str(played[1])]))


def find_demo(folder: Path) -> Played | None:
    if not (folder / KEPT).exists():
        return None
    result, place = json.loads((folder / KEPT).read_text())
    return result, Path(place)


def was_too_busy(result: dict[str, Any]) -> bool:
    """Whether a round was void, or this machine did not hear somebody in time who always answers well or in time."""
    void = any(row["void"] for part in result["mechanisms"].values() for row in part["validators"])
    rows = [row for name in ("chunking", "inference") for row in result["mechanisms"][name]["miners"]]
    lost = any(row["valid"] < row["rounds"] for row in rows if row["role"] == "honest")
    return void or lost or any(row["late"] for row in rows if row["name"] not in LATE)


def copy_database(source: Path, target: Path) -> Path:
    """As it is now, so that a test may change it."""
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)
    return target
