"""A journal opened to be read, and how far it goes."""

from pathlib import Path

from sqlalchemy import func, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.store import tables
from weighbeam.store.database import Store


def open_journal(place: str) -> Store:
    """A store by path or URL; a file that does not exist, or holds nothing, is no journal and is not created."""
    file = Path(place.removeprefix("sqlite:///"))
    if "://" in place and not place.startswith("sqlite:///"):
        return Store(place)
    if not file.is_file():
        raise WeighbeamError("no_such_file", f"{file} does not exist", "name the journal of a validator")
    if not file.stat().st_size:
        raise WeighbeamError("empty_journal", f"{file} is empty", "name the journal of a validator")
    return Store(f"sqlite:///{file}")


def count_entries(store: Store) -> int:
    """How far the journal goes: the number of its last entry."""
    with store.read() as connection:
        return int(connection.scalar(select(func.max(tables.entries.c.sequence))) or 0)
