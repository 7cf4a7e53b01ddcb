"""Move a journal: one moment of a store, whole, in an empty place of either kind. The source is only looked at."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.checkpoint import read_checkpoint
from weighbeam.engine.hash_chain import GENESIS
from weighbeam.engine.lock import find_holder
from weighbeam.engine.read_journal import view_journal
from weighbeam.engine.replay import check_link
from weighbeam.store import tables
from weighbeam.store.copy_tables import copy_table, count_rows, list_tables
from weighbeam.store.database import Store
from weighbeam.store.new_store import make_store

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Copied:
    """How many rows of each table, and where the chain ends; None is an empty one."""

    rows: dict[str, int]
    entries: int
    last: str | None


def copy_journal(source: str, target: str, on_progress: OnProgress = lambda *_: None) -> Copied:
    """Every row of `source`, read back and compared, and its chain checked, before any of it is kept in `target`.

    A journal whose validator runs is refused: what it wrote later would be missing, and two would weigh.
    """
    store = view_journal(source)
    try:
        with store.read() as old:
            _require_idle(old)
            rows = count_rows(old)
            done, total = 0, 2 * sum(rows.values())
            on_progress(done, total)

            def on_rows(count: int) -> None:
                nonlocal done
                done += count
                on_progress(done, total)

            with make_store(target) as new:
                for table in list_tables():
                    copy_table(old, new, table, on_rows)
                entries, last = check_chain(new)
                _require_same(store, rows)
        return Copied(rows, entries, last)
    finally:
        store.close()


def check_chain(connection: Connection) -> tuple[int, str | None]:
    """How many entries there are, and the last one's hash; `bad_chain` if one does not follow from the one before.

    This is not a replay: nothing is scored again.
    """
    start = read_checkpoint(connection)
    previous, expected = (start.hash, start.sequence) if start else (GENESIS, 0)
    entries, last = 0, None
    query = select(tables.entries).order_by(tables.entries.c.sequence).execution_options(yield_per=1000)
    for row in connection.execute(query):
        expected = row.sequence if not expected else expected + 1
        fault = check_link(row, previous, expected)
        if fault is not None:
            told = f"entry {row.sequence} of the journal: {fault}"
            raise WeighbeamError("bad_chain", told, "see weighbeam replay, and restore a backup")
        entries, last = entries + 1, row.hash
        previous = row.hash
    return entries, last


def _require_idle(connection: Connection) -> None:
    holder = find_holder(connection, time.time())
    if holder is not None:
        raise WeighbeamError(
            "hotkey_locked", f"{holder} runs a validator or an observer on this journal", "stop it, then copy"
        )


def _require_same(store: Store, rows: dict[str, int]) -> None:
    """Who began to write meanwhile would be left behind."""
    with store.read() as connection:
        _require_idle(connection)
        if count_rows(connection) != rows:
            told = "the journal was written while it was copied; nothing was kept"
            raise WeighbeamError("journal_changed", told, "stop whatever writes to it, then copy")
