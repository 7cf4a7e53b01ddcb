"""Sources of outcomes: this version over a journal, another interpreter's version, or a saved file."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from weighbeam import __version__
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.access import view_journal
from weighbeam.lab.backtest.compare import refuse_fault
from weighbeam.lab.backtest.outcome import Outcome, format_outcomes, parse_outcomes
from weighbeam.lab.backtest.overrides import BacktestOverrides
from weighbeam.lab.backtest.play import BacktestCourse, play
from weighbeam.lab.backtest.side import RECORDED, BacktestSide
from weighbeam.lab.backtest.support import AllowedDifferences, check_support
from weighbeam.lab.backtest.survey import survey_journal
from weighbeam.lab.backtest.window import refuse_unmet
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.store.database import Store

MAX_LINE = 64 << 20


def list_outcomes(
    store: Store,
    terms: BacktestOverrides | None = None,
    course: BacktestCourse | None = None,
    allowed: AllowedDifferences | None = None,
) -> Iterator[Outcome]:
    """Outcomes of every entry by this version, under these terms or the journal's own; `journal_differs` as in
    a backtest."""
    way, given = course or BacktestCourse(load_mechanism), allowed or AllowedDifferences()
    survey = survey_journal(store, way.only, way.window)
    check_support(survey, terms or RECORDED, way.find, way.window, given)
    sides = [BacktestSide(one, survey.start) for one in ([RECORDED, terms] if terms else [RECORDED])]
    met = False
    for played in play(store, survey, sides, way):
        if played.fault is not None and not given.anyway:
            raise refuse_fault(played.fault)
        if played.counts:
            met = True
            yield from played.outcomes[-1:]
    if not met:
        raise refuse_unmet(way.window)


def save_lines(outcomes: Iterator[Outcome], target: IO[str]) -> None:
    """One JSON line each."""
    for row in format_outcomes(outcomes, __version__):
        target.write(json.dumps(row, allow_nan=False, separators=(",", ":")) + "\n")


def save_dump(outcomes: Iterator[Outcome], file: Path) -> None:
    """All of it or nothing: what was there stays until the last line is written."""
    part = file.with_name(f"{file.name}.part")
    try:
        with part.open("w", encoding="ascii") as target:
            save_lines(outcomes, target)
        part.replace(file)
    except OSError as fault:
        raise WeighbeamError("cannot_write", f"{file}: {fault.strerror}", "name another place") from None
    finally:
        part.unlink(missing_ok=True)


def load_dump(file: Path) -> Iterator[Outcome]:
    """`bad_outcomes` if the file holds something else."""
    with file.open(encoding="utf-8", errors="replace") as source:
        yield from parse_outcomes(parse_lines(source, str(file)))


def parse_lines(source: Any, name: str) -> Iterator[Any]:
    """JSON lines of a stream, none of them endless."""
    while line := source.readline(MAX_LINE):
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            told = f"{name} holds a line that is not JSON"
            raise WeighbeamError("bad_outcomes", told, "write it with weighbeam lab backtest --outcomes FILE") from None


MAX_SAID = 300
VERSION_SECONDS = 60.0
OWN_PATHS = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
"""Variables that would lead another interpreter to this one's packages."""


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
    """Stream the output of `PYTHON -m weighbeam lab backtest ARGUMENTS --outcomes -`."""
    command = [str(python), "-m", "weighbeam", *_find_backtest(python), *arguments, "--outcomes", "-"]
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True, env=_clear_paths())
        try:
            yield from parse_outcomes(parse_lines(process.stdout, str(python)))
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


def _find_backtest(python: Path) -> list[str]:
    """That version's command for a backtest that goes on where it differs from the record: that is what is asked."""
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('weighbeam.cli.lab.backtest') is None)"
    done = subprocess.run(
        [str(python), "-c", code], capture_output=True, env=_clear_paths(), timeout=VERSION_SECONDS, check=False
    )
    return ["backtest", "--anyway"] if done.returncode == 1 else ["lab", "backtest", "--force"]


def _clear_paths() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in OWN_PATHS}


def _refuse(python: Path, said: str) -> WeighbeamError:
    lines = [line for line in said.strip().splitlines() if line] or ["it said nothing"]
    told = f"{python} cannot replay the journal: {' '.join(lines[-2:])[:MAX_SAID]}"
    return WeighbeamError("version_failed", told, "name the python of an environment with another weighbeam")


DATABASE = b"SQLite format 3\x00"


def load_outcomes(place: Path, journal: str | None) -> Iterator[Outcome]:
    """An interpreter goes through `journal`. That a version differs from the record is what is asked, and no fault."""
    if place.is_dir():
        raise WeighbeamError("no_such_file", f"{place} is a folder", "name outcomes, a journal or a python")
    if not place.is_file():
        raise WeighbeamError("no_such_file", f"{place} does not exist", "name outcomes, a journal or a python")
    try:
        with place.open("rb") as file:
            head = file.read(len(DATABASE))
    except OSError as fault:
        raise WeighbeamError("unreadable_file", f"{place}: {fault.strerror}", "check its permissions") from None
    if head == DATABASE:
        return list_outcomes(view_journal(str(place)), allowed=AllowedDifferences(anyway=True))
    if not os.access(place, os.X_OK):
        return load_dump(place)
    if journal is None:
        raise WeighbeamError("bad_usage", f"{place} needs a journal to replay", "name one with --journal")
    return stream_outcomes(place, ["--journal", journal])
