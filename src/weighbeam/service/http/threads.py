"""Thread pools for blocking work, each with a bounded queue."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from weighbeam.core.errors import require
from weighbeam.engine.support.process import refuse_exit

Result = TypeVar("Result")


class BoundedThreadPool:
    """`workers` threads with a queue of at most `waiting`; further calls get `busy` at once.

    Each piece of work may hold a connection to the store, which has 30 of them for all of a process: about half of
    them are left to a validator in it.
    """

    def __init__(self, workers: int = 8, waiting: int = 64, patience: float = 60.0) -> None:
        self.limit = workers + waiting
        self._workers = workers
        self._patience = patience
        self._threads = ThreadPoolExecutor(workers, "weighbeam-pool")
        self._lock = threading.Lock()
        self._inside: dict[Future[Any], float] = {}

    @property
    def inside(self) -> int:
        """How much is worked on and waits."""
        return len(self._inside)

    def is_crowded(self) -> bool:
        """Whether a new call would have to wait."""
        return len(self._inside) >= self._workers

    async def run(self, work: Callable[[], Result], /) -> Result:
        with self._lock:
            require(len(self._inside) < self.limit, "busy", "too many calls are waiting already", "call again later")
            future = self._threads.submit(refuse_exit, work)
            self._inside[future] = time.monotonic()
        future.add_done_callback(self._leave)
        return await asyncio.wrap_future(future)

    def is_stalled(self) -> bool:
        """Whether something has been inside for longer than anything should take."""
        with self._lock:
            oldest = min(self._inside.values(), default=None)
        return oldest is not None and time.monotonic() - oldest > self._patience

    def close(self) -> None:
        """Finish running work and drop waiting work."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _leave(self, future: Future[Any]) -> None:
        with self._lock:
            self._inside.pop(future, None)


@dataclass(frozen=True, slots=True)
class ThreadPools:
    """Separate threads for submissions, signatures, tokens, streams, reads and `/metrics`.

    None waits for another: page views never delay submissions.
    There are two readers: more would only compete for the interpreter at each fetched row.
    """

    submissions: BoundedThreadPool = field(default_factory=BoundedThreadPool)
    proofs: BoundedThreadPool = field(default_factory=lambda: BoundedThreadPool(workers=2))
    tokens: BoundedThreadPool = field(default_factory=lambda: BoundedThreadPool(workers=2))
    watch: BoundedThreadPool = field(default_factory=lambda: BoundedThreadPool(workers=1))
    reading: BoundedThreadPool = field(default_factory=lambda: BoundedThreadPool(workers=2, waiting=128))
    metrics: BoundedThreadPool = field(default_factory=lambda: BoundedThreadPool(workers=1, waiting=7))

    def close(self) -> None:
        for pool in (self.submissions, self.proofs, self.tokens, self.watch, self.reading, self.metrics):
            pool.close()
