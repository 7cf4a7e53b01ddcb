"""Tables of the service: API tokens, priorities, standings over time, what the chain said, notices sent, indices."""

import sqlalchemy as sa
from alembic import op

from weighbeam.store.columns import Integer, String, Text

revision = "0007"
down_revision = "0006"
NAMES = ("tokens", "standing_history", "metagraphs", "notices")
INDICES = (
    ("requests_by_priority", "requests", ["mechanism", "state", "priority", "at"]),
    ("requests_by_caller", "requests", ["caller", "at"]),
    ("requests_by_round", "requests", ["round"]),
    ("scores_by_hotkey", "scores", ["hotkey", "round"]),
    ("rounds_by_time", "rounds", ["at", "id"]),
    ("rounds_by_sequence", "rounds", ["mechanism", "sequence"]),
    ("alerts_by_code", "alerts", ["code", "at"]),
    ("submissions_by_mechanism", "submissions", ["mechanism", "id"]),
)


def upgrade() -> None:
    op.create_table(
        "tokens",
        sa.Column("id", String(8), primary_key=True),
        sa.Column("digest", String(64), nullable=False),
        sa.Column("name", String(64), nullable=False),
        sa.Column("scopes", sa.JSON, nullable=False),
        sa.Column("per_minute", sa.Float),
        sa.Column("priority", Integer, nullable=False),
        sa.Column("unranked", sa.Boolean, nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("expires", sa.Float),
        sa.Column("revoked", sa.Float),
    )
    op.create_table(
        "standing_history",
        sa.Column("mechanism", String(64), primary_key=True),
        sa.Column("hotkey", String(64), primary_key=True),
        sa.Column("round", String(64), primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("value", sa.Float),
    )
    op.create_index("standing_history_by_time", "standing_history", ["mechanism", "hotkey", "at"])
    op.create_index("standing_history_by_round", "standing_history", ["round"])
    op.create_table(
        "metagraphs",
        sa.Column("mechanism", String(64), primary_key=True),
        sa.Column("block", Integer, primary_key=True, autoincrement=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
    )
    op.create_table(
        "notices",
        sa.Column("code", String(64), primary_key=True),
        sa.Column("mechanism", String(64), primary_key=True),
        sa.Column("level", String(16), nullable=False),
        sa.Column("text", Text, nullable=False),
        sa.Column("opened", sa.Float, nullable=False),
        sa.Column("raised", sa.Float, nullable=False),
        sa.Column("count", Integer, nullable=False),
        sa.Column("told", sa.Float),
        sa.Column("closed", sa.Float),
    )
    op.add_column("requests", sa.Column("priority", Integer, nullable=False, server_default="0"))
    op.add_column("requests", sa.Column("caller", String(128)))
    for name, table, columns in INDICES:
        op.create_index(name, table, columns)


def downgrade() -> None:
    for name, table, _ in INDICES:
        op.drop_index(name, table)
    op.drop_column("requests", "caller")
    op.drop_column("requests", "priority")
    for table in NAMES:
        op.drop_table(table)
