"""Open a journal for reading, and count its entries."""

from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.engine import make_url

from weighbeam.core.errors import WeighbeamError
from weighbeam.store import tables
from weighbeam.store.database import Store, wrap_open_faults
from weighbeam.store.view import view_server, view_store


def open_journal(place: str) -> Store:
    """Open a journal by path or URL; a missing or empty file is an error, and no journal is created."""
    file = _find_file(place)
    return Store(place if file is None or "://" in place else f"sqlite:///{file}", begin=False)


def view_journal(place: str) -> Store:
    """The same, of one that must stay as it is; `journal_changed` if somebody begins to write a file meanwhile."""
    file = _find_file(place)
    return view_server(place) if file is None else view_store(file)


def _find_file(place: str) -> Path | None:
    """Return the file, or None if the place is a database URL."""
    file = Path(place)
    if "://" in place:
        with wrap_open_faults(place):
            url = make_url(place)
        if url.get_backend_name() != "sqlite":
            return None
        file = Path(url.database or "")
    if file.is_dir():
        raise WeighbeamError("no_such_file", f"{file} is a folder", "name the journal in it, a file")
    if not file.is_file():
        raise WeighbeamError("no_such_file", f"{file} does not exist", "name the journal of a validator")
    if not file.stat().st_size:
        raise WeighbeamError("empty_journal", f"{file} is empty", "name the journal of a validator")
    return file


def count_entries(store: Store) -> int:
    """How far the journal goes: the number of its last entry."""
    with store.read() as connection:
        return int(connection.scalar(select(func.max(tables.entries.c.sequence))) or 0)
