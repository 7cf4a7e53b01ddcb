"""Records of duplicate answers, newest first."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, select, tuple_

from weighbeam.engine.views.paging import ListPage, cut_page, format_cursor, parse_cursor
from weighbeam.store import tables
from weighbeam.store.database import Store

NAME = "copies"
MAX_READ = 5000
STEP = 500


@dataclass(frozen=True, slots=True)
class CopiesLine:
    """Miners that gave the same answer in a round; groups of one round are numbered."""

    round: str
    number: int
    mechanism: str
    at: float
    hotkeys: tuple[str, ...]
    cosine: float
    overlap: float
    names: tuple[str | None, ...] = ()


Key = tuple[float, str, int]


def list_copies(
    store: Store, hotkey: str | None = None, cursor: str | None = None, limit: int = 50
) -> ListPage[CopiesLine]:
    """All records, or those of one miner.

    No clean-up removes these records, so a search for one miner reads so many at most: such a page may be short, or
    empty, and still name a next one.
    """
    after: Any = parse_cursor(cursor, NAME, float, str, int)
    found: list[CopiesLine] = []
    read, ended = 0, False
    with store.read() as connection:
        while len(found) <= limit and read < MAX_READ and not ended:
            rows = _select_after(connection, after)
            read, ended = read + len(rows), len(rows) < STEP
            after = _key(rows[-1]) if rows else after
            found += [row for row in rows if hotkey is None or hotkey in row.hotkeys]
    if len(found) > limit or ended:
        return cut_page(found, limit, NAME, _key)
    return ListPage(tuple(found), format_cursor(NAME, *after))


def select_copies(store: Store, limit: int, hotkey: str | None = None) -> list[CopiesLine]:
    """The newest so many, however far back a miner's lie."""
    page = list_copies(store, hotkey, limit=limit)
    found = list(page.items)
    while page.next is not None and len(found) < limit:
        page = list_copies(store, hotkey, page.next, limit - len(found))
        found += page.items
    return found


def _select_after(connection: Connection, after: Key | None) -> list[CopiesLine]:
    columns = tables.copies.c
    query = select(tables.copies).order_by(columns.at.desc(), columns.round.desc(), columns.number.desc()).limit(STEP)
    if after is not None:
        query = query.where(tuple_(columns.at, columns.round, columns.number) < tuple_(*after))
    return [_parse_copies(row) for row in connection.execute(query)]


def _parse_copies(row: Row[Any]) -> CopiesLine:
    return CopiesLine(row.round, row.number, row.mechanism, row.at, tuple(row.hotkeys), row.cosine, row.overlap)


def _key(line: CopiesLine) -> Key:
    return line.at, line.round, line.number
