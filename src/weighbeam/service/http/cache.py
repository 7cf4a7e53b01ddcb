"""Caches of what was read from the store: by store version, and an LRU for what no longer changes.

The store's version is looked at in one place and a few times a second at most, however many ask.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from weighbeam.engine.views.changes import select_version
from weighbeam.store.database import Store

LAST_SECONDS = 120.0


class LruCache:
    """Cache by key with expiry, so that removed data disappears from replies soon."""

    def __init__(self, max_bytes: int, largest: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._most_bytes, self._largest = max_bytes, largest
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[Any, int, float]] = OrderedDict()
        self._bytes = 0

    def find(self, key: Hashable) -> Any:
        with self._lock:
            found = self._kept.get(key)
            if found is None or self._monotonic() > found[2]:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def keep(self, key: Hashable, made: Any, size: int) -> None:
        if size > self._largest:
            return
        with self._lock:
            _, before, _ = self._kept.pop(key, (None, 0, 0.0))
            self._kept[key] = made, size, self._monotonic() + LAST_SECONDS
            self._bytes += size - before
            while self._bytes > self._most_bytes:
                _, (_, left, _) = self._kept.popitem(last=False)
                self._bytes -= left


Made = TypeVar("Made")
LOOK_SECONDS = 0.25
MAX_BYTES = 32 << 20
LARGEST = 4 << 20
UNMEASURED = 64 << 10
OLD_SECONDS = 5.0
MAX_GONE = 3


@dataclass(frozen=True, slots=True)
class OldVersion:
    """Cached values of a version that ended at `at`."""

    at: float
    version: str
    kept: OrderedDict[Hashable, tuple[Any, int]]


class StoreCache:
    """Answers by key, of the store's present version; for worker threads, since it reads and waits."""

    def __init__(
        self, store: Store, look_seconds: float = LOOK_SECONDS, max_bytes: int = MAX_BYTES, largest: int = LARGEST
    ) -> None:
        self._store = store
        self._look_seconds, self._most_bytes, self._largest = look_seconds, max_bytes, largest
        self._lock, self._looking = threading.Lock(), threading.Lock()
        self._looked = float("-inf")
        self._version = ""
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._bytes = 0
        self._making: dict[Hashable, Future[Any]] = {}
        self._lasting = LruCache(max_bytes, largest)
        self._gone: list[OldVersion] = []

    @property
    def version(self) -> str:
        """Of the store, as it was a moment ago."""
        with self._looking:
            if time.monotonic() - self._looked >= self._look_seconds:
                self._turn(select_version(self._store))
                self._looked = time.monotonic()
        return self._version

    def peek(self, key: tuple[Hashable, ...]) -> Any:
        """Return the cached value, None if missing or if the store must be checked first; never waits."""
        found = self._lasting.find(key)
        if found is not None:
            return found
        if time.monotonic() - self._looked >= self._look_seconds:
            return None
        with self._lock:
            kept = self._kept.get((self._version, *key))
        return None if kept is None else kept[0]

    def recall(self, key: tuple[Hashable, ...], crowded: bool) -> tuple[int, Any] | None:
        """An answer that needs no thread: what is kept, or was a moment ago if many wait for threads."""
        kept = self.peek(key)
        if kept is None and crowded:
            kept = self.peek_old(key)
        return None if kept is None else (200, kept)

    def peek_old(self, key: tuple[Hashable, ...]) -> Any:
        """Return the value of a key that is current or was until a moment ago; otherwise None."""
        now = time.monotonic()
        with self._lock:
            kept = self._kept.get((self._version, *key)) if now - self._looked < OLD_SECONDS else None
            if kept is not None:
                return kept[0]
            for gone in reversed(self._gone):
                kept = gone.kept.get((gone.version, *key)) if now - gone.at < OLD_SECONDS else None
                if kept is not None:
                    return kept[0]
        return None

    def get(self, key: tuple[Hashable, ...], make: Callable[[], Made], lasts: Callable[[], bool] | None = None) -> Made:
        """Return the result of `make`, called once per key and version. An error goes to all waiters and is not cached.

        A value that `lasts` is cached for two minutes even if the store changes.
        """
        found = self._lasting.find(key)
        if found is not None:
            return cast(Made, found)
        made = self._get(key, make)
        if lasts is not None and lasts():
            self._lasting.keep(key, made, estimate_bytes(made))
        return made

    def _get(self, key: tuple[Hashable, ...], make: Callable[[], Made]) -> Made:
        named = (self.version, *key)
        with self._lock:
            if named in self._kept:
                self._kept.move_to_end(named)
                return cast(Made, self._kept[named][0])
            waiting = self._making.get(named)
            ours = self._making.setdefault(named, Future())
        if waiting is not None:
            return cast(Made, waiting.result())
        return self._make(named, make, ours)

    def _make(self, named: tuple[Hashable, ...], make: Callable[[], Made], future: Future[Any]) -> Made:
        try:
            made = make()
        except BaseException as fault:
            self._end(named)
            future.set_exception(fault)
            raise
        self._keep(named, made)
        self._end(named)
        future.set_result(made)
        return made

    def _end(self, named: tuple[Hashable, ...]) -> None:
        with self._lock:
            del self._making[named]

    def _keep(self, named: tuple[Hashable, ...], made: Any) -> None:
        """Within the room there is; the longest unused goes first. What has meanwhile changed is not kept."""
        size = estimate_bytes(made)
        with self._lock:
            if size > self._largest or named[0] != self._version:
                return
            self._kept[named] = made, size
            self._bytes += size
            while self._bytes > self._most_bytes:
                _, (_, left) = self._kept.popitem(last=False)
                self._bytes -= left

    def _turn(self, version: str) -> None:
        with self._lock:
            if version == self._version:
                return
            now = time.monotonic()
            self._gone = [gone for gone in self._gone if now - gone.at < OLD_SECONDS][-MAX_GONE:]
            self._gone.append(OldVersion(now, self._version, self._kept))
            self._version, self._kept, self._bytes = version, OrderedDict(), 0


def estimate_bytes(made: Any) -> int:
    """Bytes of what has a length of its own, else a guess.

    >>> estimate_bytes(b"abc"), estimate_bytes({})
    (1027, 65536)
    """
    given = getattr(made, "size", None) if not isinstance(made, (bytes, str)) else len(made)
    return 1024 + given if isinstance(given, int) else UNMEASURED
