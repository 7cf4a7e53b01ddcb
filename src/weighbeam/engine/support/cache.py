"""Cache of values computed from a store, recomputed when the data they come from has changed."""

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine

Made = TypeVar("Made")


class StoreMemo(Generic[Made]):
    """One thing per store and key, with the mark it was made at; who asks while it is made waits for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: WeakKeyDictionary[Engine, dict[Hashable, tuple[Hashable, Made]]] = WeakKeyDictionary()

    def get(self, connection: Connection, key: Hashable, mark: Hashable, make: Callable[[], Made]) -> Made:
        with self._lock:
            known = self._known.setdefault(connection.engine, {})
            kept = known.get(key)
            if kept is None or kept[0] != mark:
                kept = known[key] = mark, make()
        return kept[1]
