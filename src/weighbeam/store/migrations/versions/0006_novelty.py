"""The novelty desk: contributions, corpus, ledger.

It stays here although the tables belong to a mechanism: released stores name this revision, and later revisions follow
it in one chain that does not depend on which mechanisms are installed.
"""

import sqlalchemy as sa
from alembic import op

from weighbeam.store.columns import Integer, String, Text

revision = "0006"
down_revision = "0005"
NAMES = ("contributions", "forms", "pieces", "settlements", "novelty_ledger", "accounts")


def upgrade() -> None:
    op.create_table(
        "contributions",
        sa.Column("id", Integer, primary_key=True, autoincrement=True),
        sa.Column("key", String(128), nullable=False, unique=True),
        sa.Column("contributor", String(128), nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("status", String(16), nullable=False),
        sa.Column("text_sha256", String(64), nullable=False),
        sa.Column("text", Text),
        sa.Column("withdrawn", sa.Boolean, nullable=False),
        sa.Column("pieces", Integer, nullable=False),
        sa.Column("nearest", Integer),
        sa.Column("micro", Integer),
        sa.Column("units", sa.BigInteger, nullable=False),
        sa.Column("look", sa.JSON),
        sa.Column("receipt", sa.JSON),
    )
    op.create_index("contributions_by_contributor", "contributions", ["contributor", "id"])
    op.create_index("contributions_by_status", "contributions", ["status", "id"])
    op.create_table(
        "forms",
        sa.Column("digest", String(64), primary_key=True),
        sa.Column("contribution", Integer, nullable=False),
    )
    op.create_table(
        "pieces",
        sa.Column("id", Integer, primary_key=True, autoincrement=True),
        sa.Column("contribution", Integer, nullable=False),
        sa.Column("vector", sa.LargeBinary, nullable=False),
        sa.Column("crc", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "settlements",
        sa.Column("id", Integer, primary_key=True, autoincrement=True),
        sa.Column("contribution", Integer, nullable=False, unique=True),
        sa.Column("kind", String(16), nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("units", sa.BigInteger, nullable=False),
        sa.Column("receipt", sa.JSON, nullable=False),
    )
    op.create_table(
        "novelty_ledger",
        sa.Column("sequence", Integer, primary_key=True, autoincrement=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("kind", String(16), nullable=False),
        sa.Column("contribution", Integer, nullable=False),
        sa.Column("debit", String(160), nullable=False),
        sa.Column("credit", String(160), nullable=False),
        sa.Column("units", sa.BigInteger, nullable=False),
        sa.Column("previous", String(64), nullable=False),
        sa.Column("hash", String(64), nullable=False),
    )
    op.create_table(
        "accounts",
        sa.Column("name", String(160), primary_key=True),
        sa.Column("units", sa.BigInteger, nullable=False),
        sa.Column("day", Integer, nullable=False),
        sa.Column("spent", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    for table in NAMES:
        op.drop_table(table)
