"""How long `weighbeam --help` takes, against an interpreter that does nothing."""

import resource
import subprocess
import sys
from collections.abc import Iterator
from functools import partial

from benchmarks.measure import Line, time_alternately

LAPS = 9
MAX_SECONDS = 0.3


def measure_start() -> Iterator[Line]:
    """In seconds of processor time, so that a busy machine changes little."""
    bare, shown = time_alternately(partial(run, "-c", "pass"), partial(run, "-m", "weighbeam", "--help"), LAPS, spent)
    found = f"{shown * 1e3:.0f} ms, {shown / bare:.1f} times a bare interpreter"
    yield Line("weighbeam --help, CPU time", found, f"<= {MAX_SECONDS * 1e3:.0f} ms", shown <= MAX_SECONDS)


def run(*command: str) -> None:
    subprocess.run([sys.executable, *command], capture_output=True, check=True)


def spent() -> float:
    """CPU seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
