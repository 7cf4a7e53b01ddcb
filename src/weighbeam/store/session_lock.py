"""A lock that a PostgreSQL server keeps for one connection: when that ends, however it ends, so does the lock."""

import hashlib
import threading
from contextlib import suppress

from sqlalchemy import Connection, Engine, bindparam, text
from sqlalchemy.exc import SQLAlchemyError

TAKE = text("SELECT pg_try_advisory_lock(:key)").bindparams(bindparam("key"))
TAKEN = (
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
    "AND objsubid = 1 AND (classid::bigint << 32 | objid::bigint) = :key"
)
HELD = text(f"{TAKEN} AND pid = pg_backend_pid()")


class SessionLock:
    """Held by one connection of its own, which nothing else uses."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self._key = _make_key(name)
        self._connection: Connection | None = None
        self._one = threading.Lock()

    def take(self) -> bool:
        """Take the lock; True if it is ours now. A lost connection is reopened."""
        with self._one:
            return self._is_held() or self._take()

    def release(self) -> None:
        with self._one:
            self._drop()

    def _take(self) -> bool:
        self._drop()
        connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        connection.detach()
        self._connection = connection
        taken = False
        try:
            taken = bool(connection.scalar(TAKE, {"key": self._key}))
        finally:
            if not taken:
                self._drop()
        return taken

    def _is_held(self) -> bool:
        """Asked of the server: a connection that looks alive may be another one behind a pooler."""
        if self._connection is None:
            return False
        try:
            return bool(self._connection.scalar(HELD, {"key": self._key}))
        except SQLAlchemyError:
            return False

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(SQLAlchemyError):
                connection.close()


def is_taken(connection: Connection, name: str) -> bool:
    """Whether anybody holds the lock of this name."""
    return bool(connection.scalar(text(TAKEN), {"key": _make_key(name)}))


def _make_key(name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"weighbeam {name}".encode()).digest()[:8], "big", signed=True)
