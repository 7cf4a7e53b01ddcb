"""What starting a command costs, in seconds of processor time, against an interpreter that does nothing."""

import resource
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.measure import Line, time_alternately, time_once

LAPS, COMMAND_LAPS = 9, 5
MAX_SECONDS = 0.3
ROOT = Path(__file__).parent.parent
GOLDEN = str(ROOT / "golden/0.2.0/journal.sqlite")
COMMANDS = {
    "score chunking, its texts remembered": (("score", "chunking", str(ROOT / "examples/chunking.json")), 0.5),
    "leaderboard of a small journal": (("journal", "leaderboard", "--store", GOLDEN, "--mechanism", "chunking"), 0.5),
    "rounds of a small journal": (("journal", "rounds", "--store", GOLDEN), None),
    "doctor": (("doctor",), 2.0),
}
"""What is run, and the most CPU seconds it should take; a journal of an older version is copied first."""


def measure_start() -> Iterator[Line]:
    """In seconds of processor time, so that a busy machine changes little."""
    bare, shown = time_alternately(partial(run, "-c", "pass"), partial(run, "-m", "weighbeam", "--help"), LAPS, spent)
    found = f"{shown * 1e3:.0f} ms, {shown / bare:.1f} times a bare interpreter"
    yield Line("weighbeam --help, CPU time", found, f"<= {MAX_SECONDS * 1e3:.0f} ms", shown <= MAX_SECONDS)
    for what, (command, most) in COMMANDS.items():
        run("-m", "weighbeam", *command, check=False)
        seconds = min(
            time_once(partial(run, "-m", "weighbeam", *command, check=False), spent) for _ in range(COMMAND_LAPS)
        )
        wanted = "reported" if most is None else f"<= {most * 1e3:.0f} ms"
        found = f"{seconds * 1e3:.0f} ms, {seconds / bare:.1f} times a bare interpreter"
        yield Line(f"weighbeam {what}, CPU time", found, wanted, most is None or seconds <= most)


def run(*command: str, check: bool = True) -> None:
    """A doctor who finds something missing still counts."""
    subprocess.run([sys.executable, *command], capture_output=True, check=check)


def spent() -> float:
    """CPU seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
