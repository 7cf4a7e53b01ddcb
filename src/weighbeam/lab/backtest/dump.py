"""Outcomes kept in a file, and read from one: what this version makes of a journal, for another to be compared with."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from weighbeam import __version__
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.read_journal import view_journal
from weighbeam.lab.backtest.compare import refuse_fault
from weighbeam.lab.backtest.outcome import Outcome, read_outcomes, write_outcomes
from weighbeam.lab.backtest.play import Course, play
from weighbeam.lab.backtest.side import Side
from weighbeam.lab.backtest.support import Allowed, check_support
from weighbeam.lab.backtest.survey import survey_journal
from weighbeam.lab.backtest.terms import Terms
from weighbeam.lab.backtest.window import refuse_unmet
from weighbeam.mechanisms.registry import load_mechanism
from weighbeam.store.database import Store

MOST_LINE = 64 << 20


def list_outcomes(
    store: Store, terms: Terms | None = None, course: Course | None = None, allowed: Allowed | None = None
) -> Iterator[Outcome]:
    """What this version makes of every entry, on these terms or on the journal's own; `journal_differs` as a backtest
    of it would say."""
    way, set_so, given = course or Course(load_mechanism), terms or Terms(), allowed or Allowed()
    survey = survey_journal(store, way.only, way.window)
    check_support(survey, set_so, way.find, way.window, given)
    sides = [Side(one, survey.start) for one in ([Terms(), set_so] if terms else [set_so])]
    met = False
    for played in play(store, survey, sides, way):
        if played.fault is not None and not given.anyway:
            raise refuse_fault(played.fault)
        if played.counts:
            met = True
            yield played.outcomes[-1]
    if not met:
        raise refuse_unmet(way.window)


def write_dump(outcomes: Iterator[Outcome], target: IO[str]) -> None:
    """One JSON line each."""
    for row in write_outcomes(outcomes, __version__):
        target.write(json.dumps(row, allow_nan=False, separators=(",", ":")) + "\n")


def save_dump(outcomes: Iterator[Outcome], file: Path) -> None:
    """All of it or nothing: what was there stays until the last line is written."""
    part = file.with_name(f"{file.name}.part")
    try:
        with part.open("w", encoding="ascii") as target:
            write_dump(outcomes, target)
        part.replace(file)
    except OSError as fault:
        raise WeighbeamError("cannot_write", f"{file}: {fault.strerror}", "name another place") from None
    finally:
        part.unlink(missing_ok=True)


def dump_journal(place: str, file: Path) -> None:
    """Outcomes of a journal on its own terms."""
    with closing(view_journal(place)) as store:
        save_dump(list_outcomes(store), file)


def read_dump(file: Path) -> Iterator[Outcome]:
    """`bad_outcomes` if the file holds something else."""
    with file.open(encoding="utf-8", errors="replace") as source:
        yield from read_outcomes(read_lines(source, str(file)))


def read_lines(source: Any, name: str) -> Iterator[Any]:
    """JSON lines of a stream, none of them endless."""
    while line := source.readline(MOST_LINE):
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            told = f"{name} holds a line that is no JSON"
            raise WeighbeamError("bad_outcomes", told, "write it with weighbeam backtest --outcomes FILE") from None
