"""Recover from crashes: score rounds that were observed, answer requests from the journal if scored, otherwise requeue
them.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from sqlalchemy import select

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import log_fault
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.requests.organic import COLUMNS, answer_request, fail_request, requeue_request
from weighbeam.engine.support.process import refuse_exit
from weighbeam.mechanism.base import Mechanism
from weighbeam.store import tables


def finish_rounds(
    journal: Journal, mechanisms: Mapping[str, Mechanism], playing: Collection[str] = frozenset()
) -> list[str]:
    """Score what a crash or an observer left observed; gives the rounds finished. One that cannot be is discarded."""
    open_rounds = [(id, mechanisms[name]) for id, name in journal.unfinished() if name in mechanisms]
    return [id for id, mechanism in open_rounds if id not in playing and _finish(journal, id, mechanism)]


def _finish(journal: Journal, round_id: str, mechanism: Mechanism) -> bool:
    """Score a round; False if another process had scored it."""
    try:
        refuse_exit(journal.commit, round_id, mechanism)
    except Exception as fault:
        code = fault.code if isinstance(fault, WeighbeamError) else ""
        if code == "not_open":
            return False
        log_fault(fault, round_id)
        if code != "store_fault":
            journal.discard(round_id)
        return False
    return True


MAX_TRIES = 3
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
            refuse_exit(_recover, journal, row, mechanism)
        except Exception as fault:
            if isinstance(fault, WeighbeamError) and fault.code == "store_fault":
                raise
            log_fault(fault, row.id)
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
    if tries >= MAX_TRIES:
        fail_request(journal.store, row.id, row.round, "not_answered", f"its round did not end {tries} times")
        return
    requeue_request(journal.store, row.id, row.round, tries)
