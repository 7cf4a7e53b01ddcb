"""Small facts that outlive the process, by key: the last reading of the chain, the last clean-up, cached lists."""

from typing import Any

from sqlalchemy import Connection, delete, insert, select

from weighbeam.store.database import Store
from weighbeam.store.tables import memory


def recall(store: Store, key: str) -> Any:
    """Return the value remembered under `key`, or None."""
    with store.read() as connection:
        return look_up(connection, key)


def remember(store: Store, key: str, value: Any) -> None:
    with store.write() as connection:
        note(connection, key, value)


def look_up(connection: Connection, key: str) -> Any:
    """Recall within a transaction."""
    return connection.scalar(select(memory.c.value).where(memory.c.key == key))


def note(connection: Connection, key: str, value: Any) -> None:
    """Remember within a transaction."""
    connection.execute(delete(memory).where(memory.c.key == key))
    connection.execute(insert(memory).values(key=key, value=value))
