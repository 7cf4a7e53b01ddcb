"""The tables of the novelty desk, as the newest migration leaves them.

`contributions` holds every submission that was answered, in the order of commits; `forms` says which text was said
first by whom; `pieces` is the corpus, an append-only log of vectors; `contribution_facts` is what each was paid by, and
`contribution_runs` says who was first to use a run of letters. `novelty_ledger` is the money: append-only,
double entry, hash-chained; `accounts` are its sums, kept in the same transactions. Nothing here is ever deleted but a
text that is withdrawn.
"""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Index,
    LargeBinary,
    Table,
    text,
)

from weighbeam.store.columns import Float, Integer, String, Text
from weighbeam.store.tables import metadata

EARNED = text("units > 0")
"""As the index has it, word for word: SQLite uses it for a query that says the same."""

contributions = Table(
    "contributions",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("key", String(128), nullable=False, unique=True),
    Column("contributor", String(128), nullable=False),
    Column("at", Float, nullable=False),
    Column("status", String(16), nullable=False),
    Column("text_sha256", String(64), nullable=False),
    Column("text", Text),
    Column("withdrawn", Boolean, nullable=False),
    Column("pieces", Integer, nullable=False),
    Column("nearest", Integer),
    Column("micro", Integer),
    Column("units", BigInteger, nullable=False),
    Column("look", JSON),
    Column("receipt", JSON),
    Index("contributions_by_contributor", "contributor", "id"),
    Index("contributions_by_status", "status", "id"),
    Index("contributions_earned", "contributor", "at", "id", sqlite_where=EARNED, postgresql_where=EARNED),
)

forms = Table(
    "forms",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("contribution", Integer, nullable=False),
)

pieces = Table(
    "pieces",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("contribution", Integer, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    Column("crc", BigInteger, nullable=False),
    Index("pieces_by_contribution", "contribution"),
)

contribution_facts = Table(
    "contribution_facts",
    metadata,
    Column("contribution", Integer, primary_key=True, autoincrement=False),
    Column("facts", JSON, nullable=False),
    Column("charged", BigInteger, nullable=False),
)

contribution_runs = Table(
    "contribution_runs",
    metadata,
    Column("run", Integer, primary_key=True, autoincrement=False),
    Column("contribution", Integer, nullable=False),
)

settlements = Table(
    "settlements",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("contribution", Integer, nullable=False, unique=True),
    Column("kind", String(16), nullable=False),
    Column("at", Float, nullable=False),
    Column("units", BigInteger, nullable=False),
    Column("receipt", JSON, nullable=False),
)

novelty_ledger = Table(
    "novelty_ledger",
    metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    Column("at", Float, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("contribution", Integer, nullable=False),
    Column("debit", String(160), nullable=False),
    Column("credit", String(160), nullable=False),
    Column("units", BigInteger, nullable=False),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
)

accounts = Table(
    "accounts",
    metadata,
    Column("name", String(160), primary_key=True),
    Column("units", BigInteger, nullable=False),
    Column("day", Integer, nullable=False),
    Column("spent", BigInteger, nullable=False),
)
