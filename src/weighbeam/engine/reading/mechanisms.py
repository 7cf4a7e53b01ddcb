"""Whose rounds and weigh-ins a journal holds."""

from sqlalchemy import select

from weighbeam.store import tables
from weighbeam.store.database import Store


def list_mechanisms(store: Store) -> list[str]:
    """Every mechanism that played a round or made a weigh-in, by name."""
    tried = tables.audits.c.mechanism
    played, weighed = select(tables.rounds.c.mechanism), select(tried).where(tried.is_not(None))
    with store.read() as connection:
        return sorted(connection.scalars(played.union(weighed)))
