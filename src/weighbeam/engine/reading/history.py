"""How each miner's answers went: counted once per round and remembered, because a journal holds very many scores."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, String, cast, func, select

from weighbeam.store import tables
from weighbeam.store.database import Store


@dataclass(frozen=True, slots=True)
class History:
    """Rounds a miner was scored in, how many were valid, and what was last wrong, in which entry."""

    rounds: int = 0
    valid: int = 0
    last_reason: str = ""
    failed_in: int = 0

    def add(self, later: "History") -> "History":
        """With what came after it.

        >>> History(2, 2).add(History(1, 0, "timeout", 9))
        History(rounds=3, valid=2, last_reason='timeout', failed_in=9)
        """
        last = later if later.failed_in else self
        return History(self.rounds + later.rounds, self.valid + later.valid, last.last_reason, last.failed_in)


@dataclass(frozen=True, slots=True)
class Counted:
    """What was counted of one mechanism, from which entry to which."""

    first: int
    last: int
    by_hotkey: Mapping[str, History]


KNOWN: WeakKeyDictionary[Store, dict[str, Counted]] = WeakKeyDictionary()
LOCK = threading.Lock()


def read_history(store: Store, connection: Connection, mechanism: str) -> Mapping[str, History]:
    """By hotkey; only rounds committed since the last call are read, unless a clean-up removed some since."""
    with LOCK:
        known = KNOWN.setdefault(store, {}).get(mechanism)
    columns = tables.rounds.c
    ends = select(func.min(columns.sequence), func.max(columns.sequence)).where(columns.mechanism == mechanism)
    first, last = connection.execute(ends).one()
    if last is None:
        return {}
    if known is None or known.first != first or known.last > last:
        known = Counted(first, first - 1, {})
    if known.last < last:
        known = Counted(first, last, _add(known.by_hotkey, _count(connection, mechanism, known.last)))
        with LOCK:
            KNOWN.setdefault(store, {})[mechanism] = known
    return known.by_hotkey


def _add(before: Mapping[str, History], later: Mapping[str, History]) -> dict[str, History]:
    return {**before, **{hotkey: before.get(hotkey, History()).add(one) for hotkey, one in later.items()}}


def _count(connection: Connection, mechanism: str, after: int) -> dict[str, History]:
    """Of the rounds after an entry; the database counts."""
    rounds, scores = tables.rounds.c, tables.scores.c
    failed = func.max(rounds.sequence).filter(cast(scores.reasons, String) != "[]")
    of_mechanism = tables.rounds.join(tables.scores, scores.round == rounds.id)
    query = (
        select(scores.hotkey, func.count(), func.count().filter(scores.status == "valid"), failed)
        .select_from(of_mechanism)
        .where(rounds.mechanism == mechanism, rounds.sequence > after)
        .group_by(scores.hotkey)
    )
    counted = [(hotkey, total, valid, last or 0) for hotkey, total, valid, last in connection.execute(query)]
    reasons = _read_reasons(connection, mechanism, {last for *_, last in counted if last})
    return {
        hotkey: History(total, valid, reasons.get((last, hotkey), ""), last) for hotkey, total, valid, last in counted
    }


def _read_reasons(connection: Connection, mechanism: str, sequences: set[int]) -> dict[tuple[int, str], str]:
    """Why answers failed in some entries, by entry and hotkey."""
    rounds, scores = tables.rounds.c, tables.scores.c
    query = select(rounds.sequence, scores.hotkey, scores.reasons).select_from(
        tables.rounds.join(tables.scores, scores.round == rounds.id)
    )
    found: dict[tuple[int, str], str] = {}
    for sequence in sequences:
        chosen = query.where(rounds.mechanism == mechanism, rounds.sequence == sequence)
        found |= {(row[0], row[1]): ", ".join(row[2]) for row in connection.execute(chosen)}
    return found
