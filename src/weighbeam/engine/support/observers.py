"""Seats and turns of observers, the processes that ask miners and observe for a validator; only the validator scores
and weighs.
"""

import secrets
import time
from collections.abc import Callable

from sqlalchemy import delete, func, select

from weighbeam.engine.rules.constants import CHALLENGE_INTERVAL_SECONDS
from weighbeam.engine.support.lock import OBSERVER_PREFIX, HotkeyLock, is_alive
from weighbeam.store import tables
from weighbeam.store.database import Store
from weighbeam.store.memory import look_up, note


def open_seat(store: Store, now: Callable[[], float] = time.time) -> HotkeyLock:
    """Open a seat for this process."""
    return HotkeyLock(store, f"{OBSERVER_PREFIX}{secrets.token_hex(6)}", now)


def list_seats(store: Store, now: float) -> dict[str, bool]:
    """Seats by name, and whether their observers are alive."""
    columns = tables.locks.c
    with store.read() as connection:
        rows = connection.execute(select(tables.locks).where(columns.hotkey.startswith(OBSERVER_PREFIX))).all()
    return {row.hotkey: is_alive(row.holder, now - row.beat) for row in rows}


def select_alive(store: Store) -> set[str]:
    return {name for name, alive in list_seats(store, time.time()).items() if alive}


def clear_seats(store: Store, names: set[str]) -> None:
    """Clear the seats of dead observers after their requests are requeued; one that is alive after all ends."""
    with store.write() as connection:
        connection.execute(delete(tables.locks).where(tables.locks.c.hotkey.in_(names)))


def claim_turn(store: Store, mechanism: str, now: float) -> bool:
    """Whether a round of our own is due, and this process may play it: one per interval of all, though their
    clocks differ a little."""
    key = f"turn:{mechanism}"
    with store.write() as connection:
        last = look_up(connection, key)
        if last is not None and abs(now - last) < CHALLENGE_INTERVAL_SECONDS:
            return False
        note(connection, key, now)
        return True


def count_unscored(store: Store, mechanism: str) -> int:
    """Rounds that wait for the validator."""
    columns = tables.rounds.c
    query = select(func.count()).where(columns.state == "observed", columns.mechanism == mechanism)
    with store.read() as connection:
        return int(connection.scalar(query) or 0)
