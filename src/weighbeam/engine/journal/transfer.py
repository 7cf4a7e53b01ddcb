"""Copy a journal to an empty store of either kind, as of one moment; the source is only read."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.access import view_journal
from weighbeam.engine.journal.checkpoint import select_checkpoint
from weighbeam.engine.journal.fold import walk_entries
from weighbeam.engine.support.lock import select_holder
from weighbeam.store.database import Store
from weighbeam.store.transfer import copy_table, count_rows, list_tables, make_store

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class CopiedJournal:
    """How many rows of each table, and where the chain ends; None is an empty one."""

    rows: dict[str, int]
    entries: int
    last: str | None


def copy_journal(source: str, target: str, on_progress: OnProgress = lambda *_: None) -> CopiedJournal:
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
        return CopiedJournal(rows, entries, last)
    finally:
        store.close()


def check_chain(connection: Connection) -> tuple[int, str | None]:
    """How many entries there are, and the last one's hash; `bad_chain` if one does not follow from the one before.

    This is not a replay: nothing is scored again.
    """
    entries, last = 0, None
    for entry in walk_entries(connection, select_checkpoint(connection)):
        if entry.broken_link is not None:
            told = f"entry {entry.sequence} of the journal: {entry.broken_link}"
            raise WeighbeamError("bad_chain", told, "see weighbeam replay, and restore a backup")
        entries, last = entries + 1, entry.hash
    return entries, last


def _require_idle(connection: Connection) -> None:
    holder = select_holder(connection, time.time())
    if holder is not None:
        raise WeighbeamError(
            "hotkey_locked", f"{holder} runs a validator or an observer on this journal", "stop it, then copy"
        )


def _require_same(store: Store, rows: dict[str, int]) -> None:
    """Refuse the copy if the journal changed while it was copied."""
    with store.read() as connection:
        _require_idle(connection)
        if count_rows(connection) != rows:
            told = "the journal was written while it was copied; nothing was kept"
            raise WeighbeamError("journal_changed", told, "stop the program that writes to it, then copy")
