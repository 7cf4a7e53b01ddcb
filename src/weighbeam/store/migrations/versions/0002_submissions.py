"""The submission ledger."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "submissions",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("mechanism", sa.String(64), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("reason", sa.String(64)),
        sa.Column("row", sa.JSON, nullable=False),
        sa.Column("plan", sa.JSON, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("sent_block", sa.Integer),
        sa.Column("included_block", sa.Integer),
    )
    op.create_index("submissions_open", "submissions", ["mechanism", "state"])


def downgrade() -> None:
    op.drop_table("submissions")
