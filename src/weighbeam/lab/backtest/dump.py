"""Outcomes kept in a file, and read from one: what this version makes of a journal, for another to be compared with."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from weighbeam import __version__
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.read_journal import view_journal
from weighbeam.lab.backtest.outcome import Outcome, read_outcomes, write_outcomes
from weighbeam.lab.backtest.play import Course, play
from weighbeam.lab.backtest.side import Side
from weighbeam.lab.backtest.support import Allowed, check_support
from weighbeam.lab.backtest.survey import survey_journal
from weighbeam.lab.backtest.terms import Terms
from weighbeam.mechanisms.registry import load_mechanism
from weighbeam.store.database import Store

MOST_LINE = 64 << 20


def list_outcomes(
    store: Store, terms: Terms | None = None, course: Course | None = None, allowed: Allowed | None = None
) -> Iterator[Outcome]:
    """What this version makes of every entry, on these terms or on the journal's own."""
    way, set_so = course or Course(load_mechanism), terms or Terms()
    survey = survey_journal(store, way.only)
    check_support(survey, set_so, way.find, way.window, allowed or Allowed())
    sides = [Side(one, survey.start) for one in ([Terms(), set_so] if terms else [set_so])]
    for played in play(store, survey, sides, way):
        if played.counts:
            yield played.outcomes[-1]


def write_dump(outcomes: Iterator[Outcome], target: IO[str]) -> None:
    """One JSON line each."""
    for row in write_outcomes(outcomes, __version__):
        target.write(json.dumps(row, allow_nan=False, separators=(",", ":")) + "\n")


def dump_journal(place: str, file: Path) -> None:
    """Outcomes of a journal on its own terms."""
    store = view_journal(place)
    with file.open("w", encoding="ascii") as target:
        write_dump(list_outcomes(store), target)
    store.close()


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
