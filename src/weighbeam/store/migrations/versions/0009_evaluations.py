"""The evaluations of a round, and those of a time, are found without looking at all the others."""

from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_index("evaluations_by_round", "evaluations", ["round"])
    op.create_index("evaluations_by_time", "evaluations", ["mechanism", "at"])


def downgrade() -> None:
    op.drop_index("evaluations_by_time", "evaluations")
    op.drop_index("evaluations_by_round", "evaluations")
