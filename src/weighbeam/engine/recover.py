"""Requests whose round came to no end of its own: answered from what was recorded, or put back in the line."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import select

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts import tell_fault
from weighbeam.engine.journal import Journal
from weighbeam.engine.organic import COLUMNS, answer_request, fail_request, put_back
from weighbeam.mechanisms.contract import Mechanism
from weighbeam.store import tables

MOST_TRIES = 3
IsPlayed = Callable[[str, str | None], bool]
"""Whether a round, of an observer if one is named, is still under way."""


def recover_requests(
    journal: Journal, mechanism: Mechanism, is_played: IsPlayed = lambda _round, _by: False
) -> list[str]:
    """Answer or put back what was left taken; gives the requests touched."""
    with journal.store.read() as connection:
        query = select(COLUMNS.id, COLUMNS.round, COLUMNS.body, tables.rounds.c.state.label("outcome"))
        joined = query.select_from(tables.requests.outerjoin(tables.rounds, COLUMNS.round == tables.rounds.c.id))
        rows = connection.execute(joined.where(COLUMNS.mechanism == mechanism.name, COLUMNS.state == "taken")).all()
    touched = [row for row in rows if not _is_pending(row, is_played)]
    for row in touched:
        try:
            _recover(journal, row, mechanism)
        except Exception as fault:
            if isinstance(fault, WeighbeamError) and fault.code == "store_fault":
                raise
            tell_fault(fault, row.id)
            told = f"{type(fault).__name__} while answering it"
            fail_request(journal.store, row.id, row.round, "not_answered", told)
    return [row.id for row in touched]


def _is_pending(row: Any, is_played: IsPlayed) -> bool:
    """Whether somebody sees to it: who plays its round or, once that is observed, who scores it."""
    by = row.body.get("by")
    left_to_us = row.outcome in ("scored", "discarded") and by is not None
    return row.outcome == "observed" or (not left_to_us and is_played(row.round, by))


def _recover(journal: Journal, row: Any, mechanism: Mechanism) -> None:
    if row.outcome == "scored":
        answer_request(journal, row.id, row.round, mechanism)
        return
    tries = row.body.get("tries", 0) + 1
    if tries >= MOST_TRIES:
        fail_request(journal.store, row.id, row.round, "not_answered", f"its round did not end {tries} times")
        return
    put_back(journal.store, row.id, row.round, tries)
