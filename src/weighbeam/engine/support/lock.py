"""One validator per hotkey: a lock in the store, kept alive by its heartbeat, taken over once that has stopped.

A server holds it for our connection instead, as long as that lives; the heartbeat only names the holder. A connection
that is lost is reopened at the next beat, unless another process took over the hotkey meanwhile.
"""

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from weighbeam.core.errors import WeighbeamError
from weighbeam.store import tables
from weighbeam.store.database import Store, wrap_store_faults
from weighbeam.store.session_lock import is_taken

BEAT_SECONDS = 30.0
DEAD_SECONDS = 120.0
OBSERVER_PREFIX = "observer-"
"""Observers hold seats of their own in the same table."""


class HotkeyLock:
    """Held by one process at a time. Call `beat` every 30 seconds; it fails if another took over."""

    def __init__(self, store: Store, hotkey: str, now: Callable[[], float] = time.time) -> None:
        self._store = store
        self._hotkey = hotkey
        self._now = now
        self._session = store.make_lock(hotkey)
        self.name = hotkey
        self.holder = f"{_name_place()}:{os.getpid()}:{secrets.token_hex(4)}"

    def take(self) -> str | None:
        """The lock, or `hotkey_locked` while another holder is alive; gives the holder before, if it left its row."""
        now, ours = self._now(), self._hold()
        mine = tables.locks.c.hotkey == self._hotkey
        with self._store.write() as connection:
            held = connection.execute(select(tables.locks).where(mine)).one_or_none()
            taken = held is not None and held.holder != self.holder and self._is_alive(held, now)
            if not ours and (taken or self._session is not None):
                holder = _name_holder(held.holder) if held else "another process"
                raise WeighbeamError(
                    "hotkey_locked",
                    f"{holder} already runs a validator for this hotkey",
                    f"stop it; if it ran on another machine, wait {DEAD_SECONDS:.0f} seconds after its end",
                )
            connection.execute(delete(tables.locks).where(mine))
            connection.execute(insert(tables.locks).values(hotkey=self._hotkey, holder=self.holder, beat=now))
        return None if held is None else str(held.holder)

    def beat(self) -> None:
        """Renew the lock; `hotkey_locked` if another process took it over.

        A process that takes it over leaves its name. While the name is ours, a foreign lock can only be one
        we lost before the server noticed.
        """
        lost = self._session is not None and not self._hold()
        own = (tables.locks.c.hotkey == self._hotkey) & (tables.locks.c.holder == self.holder)
        with self._store.write() as connection:
            done = connection.execute(update(tables.locks).where(own).values(beat=self._now()))
        if done.rowcount != 1:
            self._let_go()
            raise WeighbeamError("hotkey_locked", "another validator took over this hotkey", "stop this one")
        if lost:
            told = "the database server still holds this hotkey's lock for a lost connection"
            raise WeighbeamError("store_fault", told, "nothing to do: the server releases it within about a minute")

    def check(self) -> None:
        """Before what only the holder may do: another may have taken over from a process that stood still."""
        self.beat()

    def require(self, connection: Connection) -> None:
        """Within a transaction that only the holder may commit: `hotkey_locked` if the lock is another's by now."""
        row = connection.execute(select(tables.locks).where(tables.locks.c.hotkey == self._hotkey)).one_or_none()
        if row is None or row.holder != self.holder:
            raise WeighbeamError("hotkey_locked", "another validator took over this hotkey", "stop this one")

    def find_row(self) -> Any:
        """The row of the last holder that did not release it, alive or not."""
        with self._store.read() as connection:
            mine = tables.locks.c.hotkey == self._hotkey
            return connection.execute(select(tables.locks).where(mine)).one_or_none()

    def find_holder(self) -> str | None:
        """The live process that holds the lock; None if it is free."""
        now = self._now()
        with self._store.read() as connection:
            mine = tables.locks.c.hotkey == self._hotkey
            held = connection.execute(select(tables.locks).where(mine)).one_or_none()
            if self._session is not None and is_taken(connection, self._hotkey):
                return "another process" if held is None else _name_holder(held.holder)
        if self._session is not None or held is None or not is_alive(held.holder, now - held.beat):
            return None
        return _name_holder(held.holder)

    def require_near(self) -> None:
        """`standby_unsafe` if a file is shared with another machine: its locks and its log only work on one."""
        held = self.find_row()
        if self._session is not None or held is None or not is_alive(held.holder, self._now() - held.beat):
            return
        if _find_boot(held.holder) != _find_boot(self.holder):
            raise WeighbeamError(
                "standby_unsafe",
                f"{_name_holder(held.holder)} holds the lock in this SQLite file, on another machine",
                "share a PostgreSQL store between machines; a file is safe on one machine only",
            )

    def release(self) -> None:
        own = (tables.locks.c.hotkey == self._hotkey) & (tables.locks.c.holder == self.holder)
        try:
            with self._store.write() as connection:
                connection.execute(delete(tables.locks).where(own))
        finally:
            self._let_go()

    def _hold(self) -> bool:
        """Whether the server holds the lock for us."""
        with wrap_store_faults():
            return self._session is not None and self._session.take()

    def _let_go(self) -> None:
        if self._session is not None:
            self._session.release()

    def _is_alive(self, held: Any, now: float) -> bool:
        """A server that keeps it for another knows; a file only says when the other was last heard."""
        return self._session is not None or is_alive(held.holder, now - held.beat)


def select_holder(connection: Connection, now: float) -> str | None:
    """The process that runs a validator on this store, if any."""
    return next((_name_holder(held.holder) for held in _list_alive(connection, now)), None)


def has_validator(connection: Connection, now: float) -> bool:
    """Whether a validator runs on this store; observers alone weigh nothing. `now` is the wall's."""
    return any(not held.hotkey.startswith(OBSERVER_PREFIX) for held in _list_alive(connection, now))


def _list_alive(connection: Connection, now: float) -> Iterator[Any]:
    for held in connection.execute(select(tables.locks)):
        server = connection.dialect.name == "postgresql"
        if is_taken(connection, held.hotkey) if server else is_alive(held.holder, now - held.beat):
            yield held


def _name_holder(holder: str) -> str:
    place, _, process = holder.rpartition(":")[0].rpartition(":")
    return f"process {process} on {place.partition('/')[0]}"


def _find_boot(holder: str) -> str:
    """The start of the machine that a holder runs on."""
    place = holder.rpartition(":")[0].rpartition(":")[0]
    return place.split("/")[1] if place.count("/") == 2 else place


def _name_place() -> str:
    """Where process numbers mean something: this host, since its start, in this namespace of processes."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii")[:8]
        space = Path("/proc/self/ns/pid").readlink().name.strip("pid:[]")
    except OSError:
        boot, space = "", secrets.token_hex(4)
    return f"{socket.gethostname()}/{boot}/{space}"


def is_alive(holder: str, silent: float) -> bool:
    """Whether a holder may still be there; of a process that can be looked for it is known at once."""
    place, _, process = holder.rpartition(":")[0].rpartition(":")
    if place == _name_place() and process.isdecimal() and int(process) != os.getpid():
        try:
            os.kill(int(process), 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
    return -DEAD_SECONDS < silent < DEAD_SECONDS
