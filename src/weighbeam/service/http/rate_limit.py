"""Rate limits: a token bucket per caller, and when to call again."""

import math
import threading
import time
from collections.abc import Callable

from weighbeam.core.errors import WeighbeamError
from weighbeam.network.policy import RateBucket

MIN_BURST = 10
MAX_BUCKETS = 10_000


class RateLimited(WeighbeamError):
    """Refused until `seconds` have passed."""

    def __init__(self, seconds: int) -> None:
        super().__init__("rate_limited", "too many calls", "wait as Retry-After says")
        self.seconds = seconds


class RateLimits:
    """Buckets by caller and pace; at once, a caller may have ten seconds' worth of its minute, and 10 at least.

    >>> clock = iter([0.0] * 11 + [3.0, 3.0])
    >>> paces = RateLimits(lambda: next(clock))
    >>> for _ in range(10):
    ...     paces.spend("ada", 20)
    >>> paces.spend("ada", 20)
    Traceback (most recent call last):
    ...
    weighbeam.service.http.rate_limit.RateLimited: rate_limited: too many calls (wait as Retry-After says)
    >>> paces.spend("ada", 20)
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._buckets: dict[tuple[str, float], RateBucket] = {}

    def spend(self, name: str, per_minute: float) -> None:
        """One call of `name`, or `rate_limited`."""
        with self._lock:
            now, burst = self._now(), max(MIN_BURST, per_minute / 6)
            if len(self._buckets) >= MAX_BUCKETS:
                self._drop_full(now)
            bucket = self._buckets.setdefault((name, per_minute), RateBucket(burst, now))
            bucket.tokens = min(burst, bucket.tokens + (now - bucket.filled_at) * per_minute / 60)
            bucket.filled_at = now
            if bucket.tokens < 1:
                raise RateLimited(max(1, math.ceil((1 - bucket.tokens) * 60 / per_minute)))
            bucket.tokens -= 1

    def give_back(self, name: str, per_minute: float) -> None:
        """Undo one `spend`."""
        with self._lock:
            bucket = self._buckets.get((name, per_minute))
            if bucket is not None:
                bucket.tokens += 1

    def _drop_full(self, now: float) -> None:
        """Forget callers whose allowance is full again; all of them if too many remain."""
        for key, bucket in list(self._buckets.items()):
            burst = max(MIN_BURST, key[1] / 6)
            if bucket.tokens + (now - bucket.filled_at) * key[1] / 60 >= burst:
                del self._buckets[key]
        if len(self._buckets) >= MAX_BUCKETS:
            self._buckets.clear()
