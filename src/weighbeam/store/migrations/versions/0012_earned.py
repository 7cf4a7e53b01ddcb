"""Find the earnings of a contributor in a window without reading all its contributions."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

EARNED = sa.text("units > 0")


def upgrade() -> None:
    columns = ["contributor", "at", "id"]
    op.create_index("contributions_earned", "contributions", columns, sqlite_where=EARNED, postgresql_where=EARNED)


def downgrade() -> None:
    op.drop_index("contributions_earned", "contributions")
