"""A store's file to look at: nothing is written into it, and beside one that nobody writes nothing is left.

What a validator writes meanwhile is read along, through its log, which stays as it is. If one begins to write only
after the file was opened as one that nobody does, `journal_changed` says so in place of what was read. A file of an
older version is copied, and the copy brought up to date.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import QueuePool

from weighbeam.core.errors import WeighbeamError
from weighbeam.store.database import CACHE_KIB, Store, begin_sqlite, read_json_column
from weighbeam.store.revision import VERSION, check_revision, find_head
from weighbeam.store.watch import Watch


class View(Store):
    """A store that is looked at; every read, and the end, asks whether it was still the same."""

    def __init__(self, file: Path, watch: Watch) -> None:
        self._folder, self._watch = None, watch
        self._use(_make_engine(file, watch))

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Of a file that was changed, whatever was read or went wrong means nothing."""
        with self._watch.guard(), super().read() as connection:
            yield connection

    def close(self) -> None:
        super().close()
        self._watch.check()


def view_store(file: Path) -> Store:
    """The store in `file`; `store_unusable` if it is none, or a newer version's."""
    watch = Watch(file)
    try:
        with watch.guard(), closing(_connect(file, watch)) as connection:
            found = _read_revision(connection)
            if found == find_head():
                return View(file, watch)
            return _copy(connection)
    except sqlite3.DatabaseError as fault:
        told = f"{file} cannot be read: {fault}"
        raise WeighbeamError("store_unusable", told, "name the journal of a validator, or restore a backup") from None


def _connect(file: Path, watch: Watch) -> sqlite3.Connection:
    """While others may write, through their log; else as a file that nobody changes, which leaves no log behind."""
    still = "&immutable=1" if watch.begin() else ""
    place = f"file:{quote(str(file.absolute()))}?mode=ro{still}"
    connection = sqlite3.connect(place, uri=True, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    return connection


def _make_engine(file: Path, watch: Watch) -> Engine:
    engine = create_engine(
        "sqlite://", creator=lambda: _connect(file, watch), poolclass=QueuePool, json_deserializer=read_json_column
    )
    event.listen(engine, "begin", begin_sqlite)
    return engine


def _copy(connection: sqlite3.Connection) -> Store:
    folder = TemporaryDirectory(prefix="weighbeam-view-")
    copy = Path(folder.name) / "journal.sqlite"
    try:
        with closing(sqlite3.connect(copy)) as target:
            connection.backup(target)
        return Store(f"sqlite:///{copy}", folder)
    except (sqlite3.OperationalError, WeighbeamError) as fault:
        told = f"an older version's journal is read from a copy, and {folder.name} cannot hold it: {fault}"
        remedy = "set TMPDIR to a folder with more room, or start its validator with this version once"
        raise WeighbeamError("store_unusable", told, remedy) from None


def _read_revision(connection: sqlite3.Connection) -> str:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    known = "alembic_version" in tables
    return check_revision((connection.execute(VERSION).fetchone() or ("",))[0] if known else None)
