"""The submission ledger: every intent to set weights and how far it got, newest first."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from weighbeam.engine.reading.pages import Page, cut_page, read_cursor
from weighbeam.store import tables
from weighbeam.store.database import Store

NAME = "submissions"
STATES = ("planned", "sent", "included", "unknown", "confirmed", "failed")


@dataclass(frozen=True, slots=True)
class SubmissionLine:
    """One row of the ledger: `row` is pairs of uid and value as sent, `plan` what was planned and learnt since."""

    id: int
    mechanism: str
    state: str
    reason: str | None
    at: float
    sent_block: int | None
    included_block: int | None
    row: tuple[tuple[int, int], ...]
    plan: Mapping[str, Any]

    @property
    def message(self) -> str | None:
        """The fault in the words of whoever refused."""
        return self.plan.get("message")


def list_submissions(
    store: Store,
    mechanism: str | None = None,
    state: str | None = None,
    cursor: str | None = None,
    most: int = 50,
) -> Page[SubmissionLine]:
    columns, after = tables.submissions.c, read_cursor(cursor, NAME, int)
    query = select(tables.submissions).order_by(columns.id.desc()).limit(most + 1)
    if after is not None:
        query = query.where(columns.id < after[0])
    if mechanism is not None:
        query = query.where(columns.mechanism == mechanism)
    if state is not None:
        query = query.where(columns.state == state)
    with store.read() as connection:
        lines = [
            SubmissionLine(
                row.id,
                row.mechanism,
                row.state,
                row.reason,
                row.at,
                row.sent_block,
                row.included_block,
                tuple((uid, value) for uid, value in row.row),
                row.plan,
            )
            for row in connection.execute(query)
        ]
    return cut_page(lines, most, NAME, lambda line: (line.id,))
