"""A store to look at: nothing is written into it or left beside it.

What a validator writes meanwhile is read along. A file of an older version is copied, and the copy brought up to date;
one on a server is brought up to date by its validator only.
"""

import sqlite3
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from sqlalchemy import Connection, create_engine, event, inspect, text
from sqlalchemy.pool import QueuePool

from weighbeam.core.errors import WeighbeamError
from weighbeam.store.database import CACHE_KIB, Store, begin_sqlite, connect, opened, read_json_column
from weighbeam.store.postgres import choose_reader

VERSION = "SELECT version_num FROM alembic_version"


def view_store(file: Path) -> Store:
    """The store in `file`; `store_unusable` if it is none, or a newer version's."""
    try:
        with closing(_connect(file)) as connection:
            found = _read_revision(connection)
            if found == _find_head():
                return _open(file)
            return _copy(connection)
    except sqlite3.DatabaseError as fault:
        told = f"{file} cannot be read: {fault}"
        raise WeighbeamError("store_unusable", told, "name the journal of a validator, or restore a backup") from None


def view_server(url: str) -> Store:
    """The store of a server, through connections that cannot write."""
    with opened(url):
        engine = connect(url)
        event.listen(engine, "begin", _refuse_writes)
        with choose_reader(engine).begin() as connection:
            tables = set(inspect(connection).get_table_names())
            if not tables:
                told = "this database holds no journal"
                raise WeighbeamError("empty_journal", told, "name the journal of a validator")
            known = "alembic_version" in tables
            found = _check_revision(connection.scalar(text(VERSION)) if known else None)
    if found != _find_head():
        told = f"this journal is of an older version ({found})"
        raise WeighbeamError("store_unusable", told, "start its validator with this version of weighbeam once")
    return Store.of(engine)


def _refuse_writes(connection: Connection) -> None:
    connection.exec_driver_sql("SET TRANSACTION READ ONLY")


def _connect(file: Path) -> sqlite3.Connection:
    """While others may write, through their log; else as a file that nobody changes, which leaves no log behind."""
    logs = [file.with_name(f"{file.name}{ending}") for ending in ("-wal", "-journal")]
    still = "" if any(log.exists() for log in logs) else "&immutable=1"
    place = f"file:{quote(str(file.absolute()))}?mode=ro{still}"
    connection = sqlite3.connect(place, uri=True, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    return connection


def _open(file: Path) -> Store:
    engine = create_engine(
        "sqlite://", creator=lambda: _connect(file), poolclass=QueuePool, json_deserializer=read_json_column
    )
    event.listen(engine, "begin", begin_sqlite)
    return Store.of(engine)


def _copy(connection: sqlite3.Connection) -> Store:
    folder = TemporaryDirectory(prefix="weighbeam-view-")
    copy = Path(folder.name) / "journal.sqlite"
    with closing(sqlite3.connect(copy)) as target:
        connection.backup(target)
    return Store(f"sqlite:///{copy}", folder)


def _read_revision(connection: sqlite3.Connection) -> str:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    known = "alembic_version" in tables
    return _check_revision((connection.execute(VERSION).fetchone() or ("",))[0] if known else None)


def _check_revision(revision: str | None) -> str:
    """One that is known here; None is of no journal at all."""
    if revision is None:
        raise WeighbeamError("store_unusable", "this holds something else, no journal", "check the path")
    if revision not in {path.stem.split("_")[0] for path in _list_migrations()}:
        told = f"this journal is of a version that is not known here ({revision})"
        raise WeighbeamError("store_unusable", told, "use the version of weighbeam that wrote it, or a newer one")
    return revision


def _find_head() -> str:
    return max(path.stem.split("_")[0] for path in _list_migrations())


def _list_migrations() -> list[Path]:
    return sorted(Path(str(files("weighbeam.store") / "migrations" / "versions")).glob("[0-9]*.py"))
