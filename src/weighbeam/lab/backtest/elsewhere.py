"""Another version's word: its own interpreter goes through the same journal and says what it makes of every entry."""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.backtest.dump import read_lines
from weighbeam.lab.backtest.outcome import Outcome, read_outcomes

MOST_SAID = 300
VERSION_SECONDS = 60.0
OWN_PATHS = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
"""What would lead another interpreter to this one's packages."""


def ask_version(python: Path) -> str:
    """Which weighbeam an interpreter has; `version_failed` if it has none, or none that can backtest."""
    code = "import weighbeam, weighbeam.lab.backtest; print(weighbeam.__version__)"
    try:
        done = subprocess.run(
            [str(python), "-c", code],
            capture_output=True,
            text=True,
            env=_clear_paths(),
            timeout=VERSION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise _refuse(python, str(fault)) from None
    if done.returncode:
        raise _refuse(python, done.stderr)
    return done.stdout.strip()


def stream_outcomes(python: Path, arguments: Sequence[str]) -> Iterator[Outcome]:
    """What `PYTHON -m weighbeam backtest ARGUMENTS --outcomes -` says, as it says it."""
    command = [str(python), "-m", "weighbeam", "backtest", *arguments, "--outcomes", "-"]
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True, env=_clear_paths())
        try:
            yield from read_outcomes(read_lines(process.stdout, str(python)))
        except WeighbeamError:
            if process.wait():
                said.seek(0)
                raise _refuse(python, said.read()) from None
            raise
        else:
            if process.wait():
                said.seek(0)
                raise _refuse(python, said.read())
        finally:
            process.kill()
            process.wait()


def _clear_paths() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in OWN_PATHS}


def _refuse(python: Path, said: str) -> WeighbeamError:
    lines = [line for line in said.strip().splitlines() if line] or ["it said nothing"]
    told = f"{python} cannot go through the journal: {' '.join(lines[-2:])[:MOST_SAID]}"
    return WeighbeamError("version_failed", told, "name the python of an environment with another weighbeam")
