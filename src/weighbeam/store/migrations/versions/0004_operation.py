"""Tables for running for months: last successes, folds, checkpoints, alerts, audits, requests, memory."""

import sqlalchemy as sa
from alembic import op

from weighbeam.store.columns import Integer, String, Text

revision = "0004"
down_revision = "0003"
NAMES = ("miners", "folds", "checkpoints", "alerts", "audits", "requests", "memory")


def upgrade() -> None:
    op.create_table(
        "miners",
        sa.Column("mechanism", String(64), primary_key=True),
        sa.Column("hotkey", String(64), primary_key=True),
        sa.Column("asked_at", sa.Float, nullable=False),
        sa.Column("success_at", sa.Float),
    )
    op.execute(
        "INSERT INTO miners (mechanism, hotkey, asked_at, success_at) "
        "SELECT mechanism, hotkey, MAX(at), MAX(CASE WHEN success THEN at END) "
        "FROM evaluations e WHERE EXISTS "
        "(SELECT 1 FROM standings s WHERE s.mechanism = e.mechanism AND s.hotkey = e.hotkey) "
        "GROUP BY mechanism, hotkey"
    )
    op.create_table(
        "folds",
        sa.Column("mechanism", String(64), primary_key=True),
        sa.Column("hotkey", String(64), primary_key=True),
        sa.Column("ema", sa.Float, nullable=False),
        sa.Column("folded", Integer, nullable=False),
        sa.Column("oldest", String(64), nullable=False),
        sa.Column("newest", String(64), nullable=False),
        sa.Column("newest_at", sa.Float, nullable=False),
        sa.Column("settings", String(64), nullable=False),
    )
    op.create_table(
        "checkpoints",
        sa.Column("sequence", Integer, primary_key=True, autoincrement=False),
        sa.Column("hash", String(64), nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("hotkey", String(64), nullable=False),
        sa.Column("signature", String(256), nullable=False),
    )
    op.create_table(
        "alerts",
        sa.Column("id", Integer, primary_key=True, autoincrement=True),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("mechanism", String(64)),
        sa.Column("code", String(64), nullable=False),
        sa.Column("level", String(16), nullable=False),
        sa.Column("text", Text, nullable=False),
    )
    op.create_index("alerts_by_time", "alerts", ["at"])
    op.create_table(
        "audits",
        sa.Column("id", Integer, primary_key=True, autoincrement=True),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("mechanism", String(64)),
        sa.Column("kind", String(32), nullable=False),
        sa.Column("mode", String(16)),
        sa.Column("reason", String(64)),
        sa.Column("detail", sa.JSON, nullable=False),
    )
    op.create_index("audits_by_mechanism", "audits", ["mechanism", "kind", "id"])
    op.create_table(
        "requests",
        sa.Column("id", String(64), primary_key=True),
        sa.Column("mechanism", String(64), nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("state", String(16), nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
        sa.Column("round", String(64)),
        sa.Column("result", sa.JSON),
    )
    op.create_index("requests_waiting", "requests", ["mechanism", "state", "at"])
    op.create_table(
        "memory",
        sa.Column("key", String(128), primary_key=True),
        sa.Column("value", sa.JSON, nullable=False),
    )


def downgrade() -> None:
    for table in NAMES:
        op.drop_table(table)
