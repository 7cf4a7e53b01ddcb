"""Facts of contributions and runs of their letters, for the desk of revision 0006; its pieces by contribution."""

import sqlalchemy as sa
from alembic import op

from weighbeam.store.columns import Integer

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "contribution_facts",
        sa.Column("contribution", Integer, primary_key=True, autoincrement=False),
        sa.Column("facts", sa.JSON, nullable=False),
        sa.Column("charged", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "contribution_runs",
        sa.Column("run", Integer, primary_key=True, autoincrement=False),
        sa.Column("contribution", Integer, nullable=False),
    )
    op.create_index("pieces_by_contribution", "pieces", ["contribution"])


def downgrade() -> None:
    op.drop_index("pieces_by_contribution", "pieces")
    for table in ("contribution_runs", "contribution_facts"):
        op.drop_table(table)
