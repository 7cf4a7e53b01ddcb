"""One validator per hotkey."""

import sqlalchemy as sa
from alembic import op

from weighbeam.store.columns import String

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "locks",
        sa.Column("hotkey", String(64), primary_key=True),
        sa.Column("holder", String(128), nullable=False),
        sa.Column("beat", sa.Float, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("locks")
