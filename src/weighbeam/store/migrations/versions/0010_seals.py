"""Seals of the rows of evidence, their sums, and the heads that sign them.

A store that was used already gets a head without a signature: it says where the signed part begins.
"""

import sqlalchemy as sa
from alembic import op

from weighbeam.store.columns import Integer, String

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "seals",
        sa.Column("name", String(64), primary_key=True),
        sa.Column("key", String(200), primary_key=True),
        sa.Column("digest", String(64), nullable=False),
    )
    op.create_table(
        "sums",
        sa.Column("name", String(64), primary_key=True),
        sa.Column("rows", Integer, nullable=False),
        sa.Column("lanes", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "heads",
        sa.Column("name", String(64), primary_key=True),
        sa.Column("number", Integer, nullable=False),
        sa.Column("sequence", Integer, nullable=False),
        sa.Column("hash", String(64), nullable=False),
        sa.Column("sums", sa.JSON, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("hotkey", String(64), nullable=False),
        sa.Column("scheme", String(16), nullable=False),
        sa.Column("signature", String(256), nullable=False),
    )
    columns = "name, number, sequence, hash, sums, at, hotkey, scheme, signature"
    for table in ("entries", "checkpoints"):
        op.execute(
            f"INSERT INTO heads ({columns}) SELECT 'journal', 0, sequence, hash, '{{}}', 0, '', '', '' FROM {table} "
            "WHERE NOT EXISTS (SELECT 1 FROM heads) ORDER BY sequence DESC LIMIT 1"
        )
    op.execute(
        f"INSERT INTO heads ({columns}) SELECT 'journal', 0, 0, '{'0' * 64}', '{{}}', 0, '', '', '' "
        "WHERE NOT EXISTS (SELECT 1 FROM heads) AND (EXISTS (SELECT 1 FROM alerts) OR EXISTS (SELECT 1 FROM audits) "
        "OR EXISTS (SELECT 1 FROM submissions) OR EXISTS (SELECT 1 FROM rounds))"
    )


def downgrade() -> None:
    for name in ("heads", "sums", "seals"):
        op.drop_table(name)
