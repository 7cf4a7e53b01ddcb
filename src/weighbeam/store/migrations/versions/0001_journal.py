"""The journal: blobs, entries, rounds, scores, evaluations, standings."""

import sqlalchemy as sa
from alembic import op

from weighbeam.store.columns import Integer, String

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "blobs",
        sa.Column("digest", String(64), primary_key=True),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "entries",
        sa.Column("sequence", Integer, primary_key=True, autoincrement=True),
        sa.Column("kind", String(16), nullable=False),
        sa.Column("ref", String(64), nullable=False),
        sa.Column("body", String(64), nullable=False),
        sa.Column("previous", String(64), nullable=False),
        sa.Column("hash", String(64), nullable=False, unique=True),
        sa.UniqueConstraint("kind", "ref"),
    )
    op.create_table(
        "rounds",
        sa.Column("id", String(64), primary_key=True),
        sa.Column("mechanism", String(64), nullable=False),
        sa.Column("state", String(16), nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("block", Integer, nullable=False),
        sa.Column("body", String(64), nullable=False),
        sa.Column("sequence", Integer),
    )
    op.create_index("rounds_by_mechanism", "rounds", ["mechanism", "at"])
    op.create_table(
        "round_blobs",
        sa.Column("round", String(64), primary_key=True),
        sa.Column("digest", String(64), primary_key=True),
    )
    op.create_index("round_blobs_by_digest", "round_blobs", ["digest"])
    op.create_table(
        "scores",
        sa.Column("round", String(64), primary_key=True),
        sa.Column("hotkey", String(64), primary_key=True),
        sa.Column("status", String(16), nullable=False),
        sa.Column("value", sa.Float),
        sa.Column("reasons", sa.JSON, nullable=False),
    )
    op.create_table(
        "evaluations",
        sa.Column("mechanism", String(64), primary_key=True),
        sa.Column("hotkey", String(64), primary_key=True),
        sa.Column("round", String(64), primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("emission", sa.Float),
        sa.Column("success", sa.Boolean, nullable=False),
    )
    op.create_index("evaluations_in_window", "evaluations", ["mechanism", "hotkey", "at"])
    op.create_table(
        "standings",
        sa.Column("mechanism", String(64), primary_key=True),
        sa.Column("hotkey", String(64), primary_key=True),
        sa.Column("place", Integer, nullable=False),
        sa.Column("value", sa.Float),
        sa.Column("detail", sa.JSON, nullable=False),
    )


def downgrade() -> None:
    for table in ("standings", "evaluations", "scores", "round_blobs", "rounds", "entries", "blobs"):
        op.drop_table(table)
