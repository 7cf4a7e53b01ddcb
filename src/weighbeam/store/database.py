"""Open a store: connect, set it up for durability, and bring its tables up to date."""

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from sqlalchemy import Connection, Engine, Table, create_engine, event, inspect
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as ConnectionsTaken

from weighbeam.core.errors import WeighbeamError
from weighbeam.store.postgres import (
    advise,
    choose_reader,
    connect_postgres,
    is_postgres,
    require_unicode,
    vacuum,
    wait_to_write,
)
from weighbeam.store.seals import PendingSums, collect_seals, seal_existing, update_sums
from weighbeam.store.session_lock import SessionLock

REVISION_QUERY = "SELECT version_num FROM alembic_version"


def check_revision(revision: str | None) -> str:
    """Check that the revision is known; None means that the database holds no journal."""
    if revision is None:
        raise WeighbeamError("store_unusable", "this database holds other tables, not a journal", "check the path")
    if revision not in _list_revisions():
        told = f"this journal is of a version unknown to this weighbeam ({revision})"
        raise WeighbeamError("store_unusable", told, "use the version of weighbeam that wrote it, or a newer one")
    return revision


def find_head() -> str:
    return max(_list_revisions())


def _list_revisions() -> set[str]:
    versions = Path(str(files("weighbeam.store") / "migrations" / "versions"))
    return {path.stem.split("_")[0] for path in versions.glob("[0-9]*.py")}


BUSY_SECONDS, MAX_BUSY_SECONDS = 10, 86_400
CACHE_KIB = 16_000
"""Of each connection: a journal of a month is read all over, and two megabytes hold too little of it."""
ERASE_TRIES, ERASE_SECONDS = 50, 0.1
CONNECTIONS = {"pool_size": 5, "max_overflow": 25}
"""Connections that one process may use at once; those beyond the first few are closed after use."""


class CommitSigner(Protocol):
    """Signs what a transaction has changed, as part of that transaction."""

    name: str

    def before_commit(self, connection: Connection, pending: PendingSums) -> Any:
        """Return the signed head; None if there is nothing to sign."""

    def after_commit(self, signed: Any) -> None: ...


class Store:
    """A database with the journal's tables. Writes go through `write`: one transaction, one fsync."""

    def __init__(self, url: str, folder: TemporaryDirectory[str] | None = None, begin: bool = True) -> None:
        """`folder`, if given, is deleted when the store closes. Without `begin`, an empty database is an error."""
        self._folder = folder
        with wrap_open_faults(url):
            self._use(connect(url))
            _migrate(self.engine, begin)

    file: Path | None = None
    """Where it is, if it is a file."""

    def _use(self, engine: Engine) -> None:
        self.engine, self._reader = engine, choose_reader(engine)
        if self.file is None:
            self.file = find_file(engine.url)
        self.signers: list[CommitSigner] = []

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that holds the write lock from its start."""
        with wrap_store_faults(), self.engine.execution_options(immediate=True).begin() as connection:
            wait_to_write(connection)
            with collect_seals(connection) as pending:
                yield connection
                update_sums(connection, pending)
                signed = [(signer, signer.before_commit(connection, pending)) for signer in self.signers]
        for signer, head in signed:
            if head is not None:
                signer.after_commit(head)

    @contextmanager
    def erase(self, table: Table) -> Iterator[Connection]:
        """A write whose deletions are overwritten on the disk; after it, so is the log of what was written before.

        A server is asked to clean the table; its own log and backups are its operator's.
        """
        sqlite = self.engine.dialect.name == "sqlite"
        with self.write() as connection:
            if sqlite:
                connection.exec_driver_sql("PRAGMA secure_delete = ON")
            yield connection
        if sqlite:
            self._empty_log()
            return
        with wrap_store_faults():
            vacuum(self.engine, table)

    def _empty_log(self) -> None:
        """Truncate the log: wait for its readers, and raise if they stay."""
        with wrap_store_faults(), closing(self.engine.raw_connection()) as raw:
            for _ in range(ERASE_TRIES):
                busy = raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                if not busy:
                    return
                time.sleep(ERASE_SECONDS)
        why = "it is deleted, but a trace stays in the log while other processes read it"
        raise WeighbeamError("store_fault", why, "repeat the command later")

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A consistent view of the store."""
        with wrap_store_faults(), self._reader.begin() as connection:
            yield connection

    def make_lock(self, name: str) -> SessionLock | None:
        """A lock for as long as this process lives and reaches the server; a file has no server to keep it."""
        return SessionLock(self.engine, name) if is_postgres(self.engine) else None

    def close(self) -> None:
        self.engine.dispose()
        if self._folder is not None:
            self._folder.cleanup()


@contextmanager
def wrap_store_faults() -> Iterator[None]:
    """A store that fails is a fault with a remedy: a full disk, a lock held too long, a damaged file, a server gone."""
    try:
        yield
    except ConnectionsTaken as fault:
        why = "every connection to the store is in use"
        raise WeighbeamError("store_fault", why, "send fewer calls at once; work continues by itself") from fault
    except DBAPIError as fault:
        if isinstance(fault, IntegrityError):
            raise
        raise WeighbeamError("store_fault", f"the store failed: {_quote(fault)}", _remedy(fault)) from fault


@contextmanager
def wrap_open_faults(url: str) -> Iterator[None]:
    """Turn faults of opening a store into errors; they never contain a password."""
    try:
        yield
    except ArgumentError:
        shown = url.rpartition("@")[2]
        raise WeighbeamError(
            "bad_store_url", f"{shown!r} is not a database URL", "write sqlite:///path.db or postgresql://…"
        ) from None
    except ImportError as fault:
        remedy = "pip install 'weighbeam[postgres]'" if fault.name == "psycopg" else "install it, or use sqlite:///"
        why = f"the driver of this database is missing: {fault}"
        raise WeighbeamError("bad_store_url", why, remedy) from None
    except DBAPIError as fault:
        why = f"the store cannot be opened: {_quote(fault)}"
        raise WeighbeamError("store_unusable", why, _remedy(fault)) from None


def _quote(fault: DBAPIError) -> str:
    """First line of the database's message; later lines may repeat stored content."""
    return (str(fault.orig).splitlines() or [type(fault.orig).__name__])[0]


def _remedy(fault: DBAPIError) -> str:
    said = str(fault.orig)
    if type(fault.orig).__module__.startswith("psycopg"):
        return advise(said)
    if "full" in said:
        return "free space on the disk; nothing committed is lost, and work continues by itself"
    if "locked" in said or "busy" in said:
        return "another program holds the store: stop it; work then continues by itself"
    if "malformed" in said or "not a database" in said:
        return "the file is damaged: restore a backup"
    return "check the path and the disk: space, permissions, health"


def find_file(url: URL) -> Path | None:
    """The file that a database URL names; None for one in memory or on a server."""
    named = url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:")
    return Path(str(url.database)) if named else None


def connect(url: str) -> Engine:
    parsed = _parse_url(url)
    settings: dict[str, Any] = {"hide_parameters": True, "json_deserializer": parse_json_column}
    if parsed.get_backend_name() != "sqlite":
        busy = float(str(parsed.query.get("timeout", BUSY_SECONDS)))
        return connect_postgres(parsed.difference_update_query(["timeout"]), busy, **settings, **CONNECTIONS)
    if "timeout" not in parsed.query:
        parsed = parsed.update_query_dict({"timeout": str(BUSY_SECONDS)})
    room = CONNECTIONS if parsed.database not in (None, "", ":memory:") else {}
    engine = create_engine(parsed, **settings, **room)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", begin_sqlite)
    return engine


def _parse_url(url: str) -> URL:
    try:
        parsed = make_url(url)
        busy = float(str(parsed.query.get("timeout", 0)))
    except ValueError:
        raise ArgumentError(url) from None
    if not 0 <= busy <= MAX_BUSY_SECONDS:
        told = f"the database URL waits {busy:g} s for others"
        raise WeighbeamError("bad_store_url", told, f"give timeout a number of seconds, at most {MAX_BUSY_SECONDS}")
    if "@" in (parsed.host or ""):
        told = "the database URL holds more than one @"
        raise WeighbeamError("bad_store_url", told, "write special characters of a password as %40 and so on")
    return parsed


def parse_json_column(text: str | bytes) -> Any:
    """Parse stored JSON; an invalid value means damage on the disk, not a user's mistake."""
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


def _refuse_foreign(connection: Connection, begin: bool) -> None:
    """Tables of somebody else are not made into a journal, nor an empty one unless asked; a newer one is left alone."""
    tables = set(inspect(connection).get_table_names())
    if tables and "alembic_version" not in tables:
        raise WeighbeamError("store_unusable", "this database holds other tables, not a journal", "check the path")
    if not tables and not begin:
        raise WeighbeamError("empty_journal", "this database holds no journal", "name the journal of a validator")
    if tables:
        check_revision(connection.exec_driver_sql(REVISION_QUERY).scalar())


def _migrate(engine: Engine, begin: bool) -> None:
    with engine.execution_options(immediate=True).connect() as connection, connection.begin():
        wait_to_write(connection)
        require_unicode(connection)
        _refuse_foreign(connection, begin)
        make_tables(connection)


def make_tables(connection: Connection) -> None:
    """All tables, as they are now."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(files("weighbeam.store") / "migrations"))
    config.attributes["connection"] = connection
    there = inspect(connection).get_table_names()
    command.upgrade(config, "head")
    if there and "seals" not in there:
        seal_existing(connection)
