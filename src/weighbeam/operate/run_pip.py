"""Fetch one package by pip, with the SHA-256 it must have; whatever pip says becomes an error with a remedy."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from weighbeam.core.errors import WeighbeamError

SECONDS = 900.0
QUIET = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
FAULTS = (
    ("No module named pip", "no_pip", "python -m ensurepip, or {by_hand} by your own installer"),
    ("DO NOT MATCH THE HASHES", "wrong_package", "ask who runs your package index: it gives another file of that name"),
    ("externally-managed-environment", "no_place", "install weighbeam into a virtual environment of its own"),
    ("Permission denied", "no_place", "run it as who owns the environment"),
    ("Read-only file system", "no_place", "run it where the environment can be written"),
    ("No space left", "no_place", "make room on the disk"),
    ("", "not_fetched", "look at the network and at `pip config list`; it can be run again at any time"),
)
MOST_SAID = 300


def run_pip(command: str, requirement: str, sha256: str, *options: str, seconds: float = SECONDS) -> None:
    """`pip install` or `pip download` of exactly that wheel, and of nothing that it depends on."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder) / "wanted.txt"
        wanted.write_text(f"{requirement} --hash=sha256:{sha256}\n")
        words = [command, "--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(wanted)]
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-m", "pip", *words, *options],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                check=False,
                env={**os.environ, **QUIET},
            )
        except subprocess.TimeoutExpired:
            raise explain(f"it took more than {seconds:g} s", requirement) from None
    if done.returncode:
        raise explain(done.stderr, requirement)


def explain(said: str, requirement: str) -> WeighbeamError:
    """What pip said, as an error.

    >>> explain("ERROR: Could not install packages: [Errno 13] Permission denied", "a==1").code
    'no_place'
    """
    code, remedy = next((code, remedy) for mark, code, remedy in FAULTS if mark in said)
    lines = [line.removeprefix("ERROR: ") for line in said.splitlines() if line.startswith("ERROR: ")] or [said]
    by_hand = f"install {requirement} without its dependencies"
    message = f"{requirement} cannot be fetched: {lines[0].strip()[:MOST_SAID]}"
    return WeighbeamError(code, message, remedy.format(by_hand=by_hand))
