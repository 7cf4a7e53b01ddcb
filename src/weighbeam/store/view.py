"""Open a store read-only: a file that must not change while it is read, or a server through connections that cannot
write.

What a validator writes meanwhile is read along, through its log, which stays as it is. If one begins to write only
after the file was opened as one that nobody does, `journal_changed` says so in place of what was read. A file of an
older version is copied, and the copy brought up to date.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.pool import QueuePool

from weighbeam.core.errors import WeighbeamError
from weighbeam.store.database import (
    CACHE_KIB,
    REVISION_QUERY,
    Store,
    begin_sqlite,
    check_revision,
    connect,
    find_head,
    parse_json_column,
    wrap_open_faults,
)
from weighbeam.store.postgres import choose_reader


@dataclass(frozen=True, slots=True)
class FileMark:
    """Which file it is, when it was written, how large it is, and its logs; an empty log holds nothing yet."""

    file: tuple[int, int, int] | None
    logs: tuple[int | None, ...]

    @property
    def is_logged(self) -> bool:
        return any(size is not None for size in self.logs)

    def is_same(self, other: "FileMark") -> bool:
        return self.file == other.file and not any(other.logs)


def take_mark(file: Path) -> FileMark:
    logs = tuple(_measure(file.with_name(f"{file.name}{ending}")) for ending in ("-wal", "-journal"))
    try:
        found = file.stat()
    except OSError:
        return FileMark(None, logs)
    return FileMark((found.st_ino, found.st_mtime_ns, found.st_size), logs)


def _measure(log: Path) -> int | None:
    try:
        return log.stat().st_size
    except OSError:
        return None


class FileWatch:
    """How a file was when it was first opened as one that nobody writes; if it never was, there is nothing to watch."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._mark: FileMark | None = None

    def begin(self) -> bool:
        """Whether nobody writes the file now."""
        mark = take_mark(self._file)
        if mark.is_logged:
            return False
        self._mark = self._mark or mark
        return True

    def check(self) -> None:
        if self._mark is not None and not self._mark.is_same(take_mark(self._file)):
            told = f"{self._file} changed while it was being read"
            raise WeighbeamError("journal_changed", told, "run it again")

    @contextmanager
    def guard(self) -> Iterator[None]:
        try:
            yield
        except Exception:
            self.check()
            raise
        self.check()


class FileView(Store):
    """A store that is looked at; every read, and the end, asks whether it was still the same."""

    def __init__(self, file: Path, watch: FileWatch) -> None:
        self._folder, self._watch, self.file = None, watch, file
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
    watch = FileWatch(file)
    try:
        with watch.guard(), closing(_connect(file, watch)) as connection:
            found = _select_file_revision(connection)
            if found == find_head():
                return FileView(file, watch)
            return _copy(connection)
    except sqlite3.DatabaseError as fault:
        told = f"{file} cannot be read: {fault}"
        raise WeighbeamError("store_unusable", told, "name the journal of a validator, or restore a backup") from None


def _connect(file: Path, watch: FileWatch) -> sqlite3.Connection:
    """While others may write, through their log; else as a file that nobody changes, which leaves no log behind."""
    still = "&immutable=1" if watch.begin() else ""
    place = f"file:{quote(str(file.absolute()))}?mode=ro{still}"
    connection = sqlite3.connect(place, uri=True, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    return connection


def _make_engine(file: Path, watch: FileWatch) -> Engine:
    engine = create_engine(
        "sqlite://", creator=lambda: _connect(file, watch), poolclass=QueuePool, json_deserializer=parse_json_column
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
        told = f"an older version's journal is read from a copy, and the copy does not fit in {folder.name}: {fault}"
        remedy = "set TMPDIR to a folder with more room, or start its validator with this version once"
        raise WeighbeamError("store_unusable", told, remedy) from None


def _select_file_revision(connection: sqlite3.Connection) -> str:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    known = "alembic_version" in tables
    return check_revision((connection.execute(REVISION_QUERY).fetchone() or ("",))[0] if known else None)


class ServerView(Store):
    """One whose tables are up to date already."""

    def __init__(self, engine: Engine) -> None:
        self._folder = None
        self._use(engine)


def view_server(url: str) -> Store:
    """The store at `url`; `store_unusable` if it is none, or another version's."""
    with wrap_open_faults(url):
        engine = connect(url)
        event.listen(engine, "begin", _refuse_writes)
        with choose_reader(engine).begin() as connection:
            found = check_revision(_select_server_revision(connection))
    if found != find_head():
        told = f"this journal was written by an older version ({found})"
        raise WeighbeamError("store_unusable", told, "start its validator with this version of weighbeam once")
    return ServerView(engine)


def _select_server_revision(connection: Connection) -> str | None:
    tables = set(inspect(connection).get_table_names())
    if not tables:
        told = "this database holds no journal"
        raise WeighbeamError("empty_journal", told, "name the journal of a validator")
    return connection.scalar(text(REVISION_QUERY)) if "alembic_version" in tables else None


def _refuse_writes(connection: Connection) -> None:
    connection.exec_driver_sql("SET TRANSACTION READ ONLY")
