"""Where outcomes come from: a file of them, a journal that this version goes through, or another version that does."""

import os
from collections.abc import Iterator
from pathlib import Path

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.read_journal import view_journal
from weighbeam.lab.backtest.dump import list_outcomes, read_dump
from weighbeam.lab.backtest.elsewhere import stream_outcomes
from weighbeam.lab.backtest.outcome import Outcome
from weighbeam.lab.backtest.support import Allowed

DATABASE = b"SQLite format 3\x00"


def read_source(place: Path, journal: str | None) -> Iterator[Outcome]:
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
        return list_outcomes(view_journal(str(place)), allowed=Allowed(anyway=True))
    if not os.access(place, os.X_OK):
        return read_dump(place)
    if journal is None:
        raise WeighbeamError("bad_usage", f"{place} needs a journal to go through", "name one with --journal")
    return stream_outcomes(place, ["--journal", journal, "--anyway"])
