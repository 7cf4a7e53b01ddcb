"""Whose rounds a journal holds."""

from sqlalchemy import select

from weighbeam.store import tables
from weighbeam.store.database import Store


def list_mechanisms(store: Store) -> list[str]:
    """Every mechanism that played a round, by name."""
    query = select(tables.rounds.c.mechanism).distinct().order_by(tables.rounds.c.mechanism)
    with store.read() as connection:
        return list(connection.scalars(query))
