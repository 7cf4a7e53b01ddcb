"""The submission ledger."""

import sqlalchemy as sa
from alembic import op

from weighbeam.store.columns import Integer, String

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "submissions",
        sa.Column("id", Integer, primary_key=True, autoincrement=True),
        sa.Column("mechanism", String(64), nullable=False),
        sa.Column("state", String(16), nullable=False),
        sa.Column("reason", String(64)),
        sa.Column("row", sa.JSON, nullable=False),
        sa.Column("plan", sa.JSON, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("sent_block", Integer),
        sa.Column("included_block", Integer),
    )
    op.create_index("submissions_open", "submissions", ["mechanism", "state"])


def downgrade() -> None:
    op.drop_table("submissions")
