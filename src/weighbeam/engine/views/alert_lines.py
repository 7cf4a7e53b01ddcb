"""Alerts of a journal with their remedies, newest first."""

from dataclasses import dataclass

from sqlalchemy import select

from weighbeam.engine.alerts.alerts import find_remedy
from weighbeam.engine.views.paging import ListPage, cut_page, parse_cursor
from weighbeam.store import tables
from weighbeam.store.database import Store

NAME = "alerts"
LEVELS = ("info", "warning", "critical")


@dataclass(frozen=True, slots=True)
class AlertLine:
    id: int
    at: float
    mechanism: str | None
    code: str
    level: str
    text: str
    remedy: str


def list_alerts(
    store: Store,
    mechanism: str | None = None,
    code: str | None = None,
    level: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> ListPage[AlertLine]:
    columns, after = tables.alerts.c, parse_cursor(cursor, NAME, int)
    query = select(columns.id, columns.at, columns.mechanism, columns.code, columns.level, columns.text)
    query = query.order_by(columns.id.desc()).limit(limit + 1)
    if after is not None:
        query = query.where(columns.id < after[0])
    for column, wanted in ((columns.mechanism, mechanism), (columns.code, code), (columns.level, level)):
        if wanted is not None:
            query = query.where(column == wanted)
    with store.read() as connection:
        lines = [AlertLine(*row, find_remedy(row.code, row.mechanism)) for row in connection.execute(query)]
    return cut_page(lines, limit, NAME, lambda line: (line.id,))
