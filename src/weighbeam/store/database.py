"""Open a store: connect, set it up for durability, and bring its tables up to date."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, OperationalError

from weighbeam.core.errors import WeighbeamError

BUSY_SECONDS = 10


class Store:
    """A database with the journal's tables. Writes go through `write`: one transaction, one fsync."""

    def __init__(self, url: str) -> None:
        try:
            self.engine = _connect(url)
            _migrate(self.engine)
        except ArgumentError:
            raise WeighbeamError("bad_store_url", f"{url!r} is no database URL", "write sqlite:///path.db") from None
        except (OperationalError, DatabaseError) as fault:
            raise WeighbeamError(
                "store_unusable",
                f"the store cannot be opened: {fault.orig}",
                "check the path, the disk and its permissions",
            ) from None

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that holds the write lock from its start."""
        with self.engine.execution_options(immediate=True).begin() as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A consistent view of the store."""
        with self.engine.begin() as connection:
            yield connection

    def close(self) -> None:
        self.engine.dispose()


def _connect(url: str) -> Engine:
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return create_engine(parsed)
    engine = create_engine(parsed, connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _: Any) -> None:
    """The driver's own transactions off, write-ahead log on, every commit on disk."""
    connection.isolation_level = None
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")


def _begin_sqlite(connection: Connection) -> None:
    immediate = connection.get_execution_options().get("immediate", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


def _migrate(engine: Engine) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(files("weighbeam.store") / "migrations"))
    with engine.execution_options(immediate=True).connect() as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
