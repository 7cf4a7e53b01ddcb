"""What starting a command costs, in seconds of processor time, against an interpreter that does nothing."""

import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.measure import Line, time_alternately, time_once
from weighbeam.store.database import Store

LAPS, COMMAND_LAPS = 9, 5
MAX_SECONDS = 0.12
ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "golden/0.2.0/journal.sqlite"
TEXT = "The tide turns twice a day, since the moon draws the water of the sea."


def measure_start() -> Iterator[Line]:
    """In seconds of processor time, so that a busy machine changes less; what a score is of is remembered."""
    bare, shown = time_alternately(partial(run, "-c", "pass"), partial(run, "-m", "weighbeam", "--help"), LAPS, spent)
    yield _tell("--help", shown, bare, MAX_SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        for what, (command, most) in list_commands(Path(folder)).items():
            run("-m", "weighbeam", *command, check=False)
            laps = [
                time_once(partial(run, "-m", "weighbeam", *command, check=False), spent) for _ in range(COMMAND_LAPS)
            ]
            yield _tell(what, median(laps), bare, most)


def _tell(what: str, seconds: float, bare: float, most: float | None) -> Line:
    wanted = "reported" if most is None else f"≤ {most * 1e3:.0f} ms"
    found = f"{seconds * 1e3:.0f} ms, {seconds / bare:.1f} times a bare interpreter"
    return Line(f"weighbeam {what}, CPU time", found, wanted, most is None or seconds <= most)


def list_commands(folder: Path) -> dict[str, tuple[Sequence[str], float | None]]:
    """What is run, and the most CPU seconds it should take; the journal is of this version."""
    journal, desk = shutil.copy(GOLDEN, folder / "journal.db"), str(folder / "desk.db")
    Store(f"sqlite:///{journal}").close()
    scores = {
        name: ("score", name, str(ROOT / f"examples/{name}.json")) for name in ("inference", "evidence", "novelty")
    }
    return {
        "score chunking": (("score", "chunking", str(ROOT / "examples/chunking.json")), 0.5),
        **{f"score {name}": (command, None) for name, command in scores.items()},
        "journal leaderboard": (("journal", "leaderboard", "--store", journal, "--mechanism", "chunking"), 0.5),
        "journal rounds": (("journal", "rounds", "--store", journal), None),
        "novelty submit": (
            ("novelty", "submit", "--store", desk, "--contributor", "ada", "--per-day", "500", TEXT),
            None,
        ),
        "doctor": (("doctor",), 2.0),
    }


def run(*command: str, check: bool = True) -> None:
    """A doctor who finds something missing still counts."""
    subprocess.run([sys.executable, *command], capture_output=True, check=check)


def spent() -> float:
    """CPU seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
