"""Open a store: connect, set it up for durability, and bring its tables up to date."""

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.resources import files
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, func, inspect, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, IntegrityError
from sqlalchemy.exc import TimeoutError as ConnectionsTaken

from weighbeam.core.errors import WeighbeamError

BUSY_SECONDS = 10
CACHE_KIB = 16_000
"""Of each connection: a journal of a month is read all over, and two megabytes hold too little of it."""
ERASE_TRIES, ERASE_SECONDS = 50, 0.1
WRITE_LOCK = 0x57424A4C
CONNECTIONS = {"pool_size": 5, "max_overflow": 25}
"""What validator and service of one process may use at once; those beyond the first few are closed after use."""


class Store:
    """A database with the journal's tables. Writes go through `write`: one transaction, one fsync."""

    def __init__(self, url: str, folder: TemporaryDirectory[str] | None = None) -> None:
        """`folder`, if there is one, goes when the store is closed."""
        self._folder = folder
        try:
            self.engine = _connect(url)
            _migrate(self.engine)
        except ArgumentError:
            shown = url.rpartition("@")[2]
            raise WeighbeamError("bad_store_url", f"{shown!r} is no database URL", "write sqlite:///path.db") from None
        except ImportError as fault:
            raise WeighbeamError(
                "bad_store_url", f"the driver of this database is missing: {fault}", "install it, or use sqlite:///"
            ) from None
        except DatabaseError as fault:
            raise WeighbeamError(
                "store_unusable",
                f"the store cannot be opened: {fault.orig}",
                _remedy(str(fault.orig)),
            ) from None

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that holds the write lock from its start."""
        with _told(), self.engine.execution_options(immediate=True).begin() as connection:
            if self.engine.dialect.name == "postgresql":
                connection.execute(select(func.pg_advisory_xact_lock(WRITE_LOCK)))
            yield connection

    @contextmanager
    def erase(self) -> Iterator[Connection]:
        """A write whose deletions are overwritten on the disk; after it, so is the log of what was written before."""
        sqlite = self.engine.dialect.name == "sqlite"
        with self.write() as connection:
            if sqlite:
                connection.exec_driver_sql("PRAGMA secure_delete = ON")
            yield connection
        if sqlite:
            self._empty_log()

    def _empty_log(self) -> None:
        """Who still reads the log keeps it: wait for them, and tell if they do not go."""
        with _told(), closing(self.engine.raw_connection()) as raw:
            for _ in range(ERASE_TRIES):
                busy = raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                if not busy:
                    return
                time.sleep(ERASE_SECONDS)
        told = "it is deleted, but a trace stays in the log while others read it"
        raise WeighbeamError("store_fault", told, "do the same again later")

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A consistent view of the store."""
        with _told(), self.engine.begin() as connection:
            yield connection

    def close(self) -> None:
        self.engine.dispose()
        if self._folder is not None:
            self._folder.cleanup()


@contextmanager
def _told() -> Iterator[None]:
    """A store that fails is a fault with a remedy: a full disk, a lock held too long, a damaged file."""
    try:
        yield
    except ConnectionsTaken as fault:
        told = "every connection to the store is in use"
        raise WeighbeamError("store_fault", told, "work goes on by itself; call less at once") from fault
    except DatabaseError as fault:
        if isinstance(fault, IntegrityError):
            raise
        raise WeighbeamError("store_fault", f"the store failed: {fault.orig}", _remedy(str(fault.orig))) from fault


def _remedy(said: str) -> str:
    if "full" in said:
        return "free space on the disk; nothing committed is lost and work goes on by itself"
    if "locked" in said or "busy" in said:
        return "another program holds the store: end it; work goes on by itself"
    if "malformed" in said or "not a database" in said:
        return "the file is damaged: restore a backup"
    return "check the path and the disk: space, permissions, health"


def _connect(url: str) -> Engine:
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        named = parsed.set(drivername="postgresql+psycopg") if parsed.drivername == "postgresql" else parsed
        return create_engine(named, hide_parameters=True, json_deserializer=read_json_column, **CONNECTIONS)
    if "timeout" not in parsed.query:
        parsed = parsed.update_query_dict({"timeout": str(BUSY_SECONDS)})
    room = CONNECTIONS if parsed.database not in (None, "", ":memory:") else {}
    engine = create_engine(parsed, hide_parameters=True, json_deserializer=read_json_column, **room)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", begin_sqlite)
    return engine


def read_json_column(text: str | bytes) -> Any:
    """A value that is no JSON any more was damaged on the disk, not by a user."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise WeighbeamError("store_fault", f"a record is damaged: {fault}", "restore a backup") from None


def _prepare_sqlite(connection: sqlite3.Connection, _: Any) -> None:
    """The driver's own transactions off, write-ahead log on, every commit on disk."""
    connection.isolation_level = None
    if connection.execute("PRAGMA page_count").fetchone() == (0,):
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")


def begin_sqlite(connection: Connection) -> None:
    immediate = connection.get_execution_options().get("immediate", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


def _refuse_foreign(connection: Connection) -> None:
    """A database that holds tables of somebody else is not made into a journal."""
    tables = set(inspect(connection).get_table_names())
    if tables and "alembic_version" not in tables:
        raise WeighbeamError("store_unusable", "this database holds something else, no journal", "check the path")


def _migrate(engine: Engine) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(files("weighbeam.store") / "migrations"))
    with engine.execution_options(immediate=True).connect() as connection, connection.begin():
        _refuse_foreign(connection)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
