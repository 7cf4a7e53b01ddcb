"""What is asked of a service under load: every route that reads, every page; rounds and miners drawn by chance."""

import json
import random
import sqlite3
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

EACH = 300
LISTS = ("/v1/rounds", "/v1/alerts", "/v1/copies", "/v1/weights?mechanism=chunking", "/v1/submissions")
DEPTH = 6
PAGES = ("/", "/mechanisms/chunking", "/mechanisms/inference", "/rounds", "/weights", "/attacks", "/ask")


def list_targets(journal: Path, port: int, headers: dict[str, str], seed: int) -> dict[str, list[str]]:
    """Paths by the name of their route."""
    chance = random.Random(seed)
    rounds, hotkeys = _draw(journal, chance)
    answered = [f"{one}/{{}}/{hotkey}" for one, hotkey in rounds]
    return {
        "/v1/overview": ["/v1/overview"],
        "/v1/mechanisms": ["/v1/mechanisms"],
        "/v1/mechanisms/…/params": [f"/v1/mechanisms/{name}/params" for name in ("chunking", "inference")],
        "/v1/mechanisms/…/standings": [f"/v1/mechanisms/{name}/standings" for name in ("chunking", "inference")],
        "/v1/metagraph": ["/v1/metagraph?mechanism=chunking", "/v1/metagraph?mechanism=inference"],
        "/v1/health": ["/v1/health"],
        "/v1/miners/…": [f"/v1/miners/{hotkey}" for hotkey in hotkeys],
        "/v1/miners/…/scores": [f"/v1/miners/{hotkey}/scores" for hotkey in hotkeys],
        "/v1/rounds/…": [f"/v1/rounds/{one}" for one, _ in rounds],
        "/v1/rounds/…/scores/…": [f"/v1/rounds/{one.format('scores')}" for one in answered],
        "/v1/rounds/…/receipts/…": [f"/v1/rounds/{one.format('receipts')}" for one in answered],
        "/v1/rounds?hotkey": [f"/v1/rounds?hotkey={hotkey}" for hotkey in hotkeys],
        **{path: _turn_pages(port, path, headers) for path in LISTS},
        **{f"page {path}": [path] for path in PAGES},
        "page /miners/…": [f"/miners/{hotkey}" for hotkey in hotkeys],
        "page /rounds/…": [f"/rounds/{one}" for one, _ in rounds],
        "page /rounds/…/…": [f"/rounds/{one}/{hotkey}" for one, hotkey in rounds],
    }


def _draw(journal: Path, chance: random.Random) -> tuple[list[tuple[str, str]], list[str]]:
    """Some rounds, each with one of those it asked; and miners."""
    with sqlite3.connect(journal) as raw:
        ids = [row[0] for row in raw.execute("SELECT id FROM rounds WHERE state = 'scored' ORDER BY id")]
        chosen = chance.sample(ids, min(EACH, len(ids)))
        asked = "SELECT hotkey FROM scores WHERE round = ? ORDER BY hotkey"
        rounds = [(one, chance.choice(list(raw.execute(asked, (one,))))[0]) for one in chosen]
    raw.close()
    return rounds, sorted({hotkey for _, hotkey in rounds})


def _turn_pages(port: int, path: str, headers: dict[str, str]) -> list[str]:
    """The first pages of a list, by the cursors it gives."""
    found, following = [path], path
    for _ in range(DEPTH):
        cursor = fetch(port, following, headers).get("next")
        if cursor is None:
            break
        following = f"{path}{'&' if '?' in path else '?'}cursor={cursor}"
        found.append(following)
    return found


def fetch(port: int, path: str, headers: dict[str, str]) -> Any:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.loads(reply.read())


def check_all(port: int, targets: dict[str, list[str]], headers: dict[str, str]) -> Sequence[str]:
    """The routes of which the first target is not answered; nothing is measured of those."""
    wrong = []
    for name, paths in targets.items():
        request = urllib.request.Request(f"http://127.0.0.1:{port}{paths[0]}", headers=headers)
        try:
            urllib.request.urlopen(request, timeout=60).read()
        except urllib.error.HTTPError as fault:
            wrong.append(f"{name}: {fault.code}")
    return wrong
