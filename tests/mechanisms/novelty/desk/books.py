"""Check the books of a store."""

from collections.abc import Iterator

from sqlalchemy import Connection, select

from weighbeam.mechanisms.novelty.desk.ledger import check_entries
from weighbeam.mechanisms.novelty.tables import accounts, novelty_ledger


def check_books(connection: Connection) -> Iterator[str]:
    """Everything that is wrong with the ledger in a store."""
    entries = (dict(row._mapping) for row in connection.execute(select(novelty_ledger).order_by("sequence")))
    kept = {row.name: int(row.units) for row in connection.execute(select(accounts.c.name, accounts.c.units))}
    return check_entries(entries, kept)
