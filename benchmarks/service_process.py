"""Processes of the service's benchmark: `weighbeam serve` on a journal, the client, the rounds beside it."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

START_SECONDS, STOP_SECONDS = 90.0, 20.0
PER_MINUTE = 10_000_000
SETTINGS = """
[wallet]
uri = "//Alice"

[chain]
kind = "local"
path = "no-chain.sqlite"

[store]
url = "sqlite:///{journal}"

[weigh_in]
db_retention_hours = 2160.0

[service]
listen = "127.0.0.1:{port}"
per_minute = {pace}

[mechanisms.chunking]

[mechanisms.inference]
mechid = 1
"""


def write_settings(folder: Path, journal: Path) -> tuple[Path, int]:
    """Settings of a service on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    path = folder / "service.toml"
    path.write_text(SETTINGS.format(journal=journal, port=port, pace=PER_MINUTE))
    return path, port


def make_token(settings: Path, name: str) -> str:
    """As an operator makes one, for who reads very often."""
    rate_limits = ["--per-minute", str(PER_MINUTE), "--expires-days", "1"]
    command = [*weighbeam("serve", "token", "new"), "--name", name, "--scope", "read", *rate_limits]
    done = subprocess.run([*command, "--config", str(settings)], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()


def weighbeam(*words: str) -> list[str]:
    return [sys.executable, "-m", "weighbeam", *words]


@contextmanager
def run_service(settings: Path, port: int) -> Iterator[int]:
    """`weighbeam serve` until the context ends; gives its process id."""
    process = subprocess.Popen(
        [*weighbeam("serve", "--config", str(settings))], stderr=(settings.parent / "service.log").open("w")
    )
    try:
        _await(port, process)
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()


def _await(port: int, process: subprocess.Popen[Any]) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).read()
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("the service did not start; see service.log")


@contextmanager
def run_rounds(folder: Path, seconds: float, every: float) -> Iterator[subprocess.Popen[str]]:
    """Rounds committed to the journal in `folder` meanwhile."""
    command = [sys.executable, "-m", "benchmarks.live_rounds", str(folder), str(seconds), str(every)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(STOP_SECONDS)


def run_client(given: dict[str, Any]) -> dict[str, Any]:
    """What `benchmarks.load_client` finds."""
    command: Sequence[str] = [sys.executable, "-m", "benchmarks.load_client"]
    done = subprocess.run(
        command, input=json.dumps(given), capture_output=True, text=True, check=True, timeout=given["seconds"] + 60
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def read_cpu(pid: int) -> float:
    """CPU seconds a process has used so far, where the system tells."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
