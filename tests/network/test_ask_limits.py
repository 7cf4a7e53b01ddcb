"""What bounds the asking of a round: its time, and the files that are left to it."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from network.loopback import ALICE, BOB, CHARLIE, serve_miner, serve_raw
from network.raw_http import HEAD, connect
from weighbeam.network import ask
from weighbeam.network.ask import Asker, AskSettings, MinerQuestion, MinerReply, Target
from weighbeam.network.blame import blame_refused, is_lost

PROGRAM = Path(__file__).with_name("busy_asker.py")


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def echo(task: dict[str, Any], seconds: float) -> Any:
    return {"chunks": [task["document"]]}


def ask_all(targets: list[Target], deadline: float, settings: AskSettings) -> tuple[list[MinerReply], float]:
    question = MinerQuestion("r", "chunking", "h", {"document": "d"}, deadline, "seed")
    start = time.monotonic()
    heard = asyncio.run(Asker(ALICE, settings).ask_all(question, targets))
    return heard, time.monotonic() - start


def test_silent_hotkeys_of_one_address_cost_three_deadlines_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twelve used to cost six."""
    monkeypatch.setattr(ask, "QUEUE_SLACK_SECONDS", 0.3)
    with serve_raw(silent) as nobody, serve_miner(echo, tmp_path, hotkey=CHARLIE) as somebody:
        targets = [Target(BOB.address, nobody)] * 12 + [Target(CHARLIE.address, f"http://localhost:{somebody[10:]}")]
        settings = AskSettings(allow_private=True)
        heard, seconds = ask_all(targets, 1.0, settings)
    asked = [reply for reply in heard if reply.reason is None]
    assert {reply.status for reply in heard[:12]} == {"timeout"}
    assert {reply.reason for reply in heard[:12]} == {None, "queue"}
    assert 4 <= len(asked) <= 7
    assert seconds < 5.0
    queued = [reply for reply in heard if reply.reason == "queue"]
    assert all(map(is_lost, queued)), "nobody has seen a sign of life of them"
    refusal = MinerReply("a", "error", "403", 0.1)
    assert blame_refused([refusal, *queued])[0].status == "validator_error", "and they were not reached"


def test_a_turn_that_we_could_not_give_is_our_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "limit_queue", lambda *_: 0.3)
    with serve_raw(silent) as one, serve_raw(silent) as other:
        targets = [Target(BOB.address, one), Target(BOB.address, other)]
        heard, _ = ask_all(targets, 1.0, AskSettings(allow_private=True, parallel=1))
    assert sorted((reply.status, reply.reason or "") for reply in heard) == [
        ("timeout", ""),
        ("validator_error", "queue"),
    ]


@contextmanager
def start_asker(files: int, endpoint: str, hotkeys: int) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    command = [sys.executable, str(PROGRAM), str(files), endpoint, str(hotkeys)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, f"127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


def let_it_ask(process: "subprocess.Popen[str]") -> dict[str, int]:
    told, _ = process.communicate("go\n", timeout=60)
    outcomes: dict[str, int] = json.loads(told.splitlines()[-1])
    return outcomes


def test_a_full_listener_leaves_files_for_asking() -> None:
    with (
        serve_raw(silent) as miner,
        start_asker(512, miner, 64) as (process, endpoint),
        ExitStack() as callers,
    ):
        for number in range(480):
            caller = callers.enter_context(connect(endpoint, f"127.0.0.{2 + number // 19}"))
            caller.sendall(HEAD)
        assert let_it_ask(process) == {"timeout None": 64}


def test_a_miner_is_not_blamed_for_files_that_we_lack() -> None:
    """They used to be `unreachable`, and a process without any files could not ask at all."""
    with serve_raw(silent) as miner, start_asker(64, miner, 80) as (process, _):
        outcomes = let_it_ask(process)
    assert outcomes.keys() == {"timeout None", "validator_error OSError"}
