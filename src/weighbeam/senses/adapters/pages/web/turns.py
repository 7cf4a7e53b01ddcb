"""Concurrency limits of page reads: overall, per domain, and a pause per host."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from weighbeam.senses.adapters.pages.limits import PageLimits

MAX_HOSTS = 1_000


def last_two_labels(host: str) -> str:
    """A registered domain, roughly: never more of them than there are.

    >>> last_two_labels("en.wikipedia.org")
    'wikipedia.org'
    """
    return ".".join(host.split(".")[-2:])


class ReadTurns:
    """Turns are taken in the order domain, pause, place: who waits for a slow domain keeps no place from others."""

    def __init__(self, limits: PageLimits, domain_of: Callable[[str], str] = last_two_labels) -> None:
        self._limits, self._domain_of = limits, domain_of
        self._places = asyncio.Semaphore(limits.reads)
        self._domains: dict[str, asyncio.Semaphore] = {}
        self._waiting: Counter[str] = Counter()
        self._next: dict[str, float] = {}

    @asynccontextmanager
    async def enter(self, host: str, pause: bool = True) -> AsyncIterator[None]:
        """Wait for a turn to ask a host, and keep it meanwhile; without `pause`, only for a place."""
        domain = self._domain_of(host)
        turns = self._domains.setdefault(domain, asyncio.Semaphore(self._limits.per_domain))
        self._waiting[domain] += 1
        try:
            async with turns:
                if pause:
                    await self._pause(host)
                async with self._places:
                    yield
        finally:
            self._waiting[domain] -= 1
            if not self._waiting[domain]:
                del self._waiting[domain], self._domains[domain]

    async def _pause(self, host: str) -> None:
        now = asyncio.get_running_loop().time()
        begin = max(now, self._next.get(host, now))
        if len(self._next) >= MAX_HOSTS:
            self._next = {name: when for name, when in self._next.items() if when > now}
        self._next[host] = begin + self._limits.host_gap_seconds
        await asyncio.sleep(begin - now)
