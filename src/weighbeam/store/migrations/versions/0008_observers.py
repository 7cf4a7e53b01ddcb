"""Rounds that wait to be scored are found without looking at all the others."""

from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_index("rounds_by_state", "rounds", ["state", "at", "id"])


def downgrade() -> None:
    op.drop_index("rounds_by_state", "rounds")
