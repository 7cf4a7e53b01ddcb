"""Tables of work that follows a round: the outbox, records of copies, heatmap and narrative."""

import sqlalchemy as sa
from alembic import op

from weighbeam.store.columns import Integer, String, Text

revision = "0005"
down_revision = "0004"
NAMES = ("outbox", "copies", "extras")


def upgrade() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", Integer, primary_key=True, autoincrement=True),
        sa.Column("kind", String(32), nullable=False),
        sa.Column("ref", String(160), nullable=False),
        sa.Column("mechanism", String(64), nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
        sa.Column("state", String(16), nullable=False),
        sa.Column("due", sa.Float, nullable=False),
        sa.Column("tries", Integer, nullable=False),
        sa.Column("fault", Text),
        sa.UniqueConstraint("kind", "ref"),
    )
    op.create_index("outbox_waiting", "outbox", ["state", "due"])
    op.create_table(
        "copies",
        sa.Column("round", String(64), primary_key=True),
        sa.Column("number", Integer, primary_key=True, autoincrement=False),
        sa.Column("mechanism", String(64), nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("hotkeys", sa.JSON, nullable=False),
        sa.Column("cosine", sa.Float, nullable=False),
        sa.Column("overlap", sa.Float, nullable=False),
    )
    op.create_index("copies_by_time", "copies", ["at"])
    op.create_table(
        "extras",
        sa.Column("round", String(64), primary_key=True),
        sa.Column("kind", String(16), primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("value", Text),
        sa.Column("maker", String(512), nullable=False),
        sa.Column("fault", Text),
    )


def downgrade() -> None:
    for table in NAMES:
        op.drop_table(table)
