"""What does not change any more, kept for a while: the longest unused goes first when there is no more room."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

LAST_SECONDS = 120.0


class Lasting:
    """By key, with an end, so that what a clean-up removed is not told for much longer."""

    def __init__(self, most_bytes: int, largest: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._most_bytes, self._largest = most_bytes, largest
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
