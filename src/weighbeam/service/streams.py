"""Those who listen to what happens: one watcher looks at the store for all of them, while there is anybody."""

import asyncio
from collections.abc import Callable

from weighbeam.core.errors import require
from weighbeam.engine.alerts import tell_fault
from weighbeam.engine.reading.news import Event, Position, Seen, read_news, read_seen
from weighbeam.service.front import Run
from weighbeam.store.database import Store

POLL_SECONDS = 1.0
MOST_WAITING = 500


class Listener:
    """One stream: what it is still to be told. Who takes too long to take it is cut off."""

    def __init__(self, start: Position, cut: Callable[[], None]) -> None:
        self.start = start
        self.waiting: asyncio.Queue[Event] = asyncio.Queue(MOST_WAITING)
        self.is_cut = False
        self._cut = cut

    def offer(self, events: list[Event]) -> None:
        try:
            for event in events:
                self.waiting.put_nowait(event)
        except asyncio.QueueFull:
            self.is_cut = True
            self._cut()


class Streams:
    """All listeners of a process; used in its event loop alone."""

    def __init__(self, store: Store, most: int, run: Run = asyncio.to_thread) -> None:
        self.store = store
        self._most = most
        self.run: Run = run
        self._listeners: set[Listener] = set()
        self._opening = 0
        self._looking = asyncio.Lock()
        self._watcher: asyncio.Task[None] | None = None
        self._seen = Seen(Position())

    @property
    def count(self) -> int:
        return len(self._listeners) + self._opening

    async def join(self, cut: Callable[[], None]) -> Listener:
        """A listener who is told all that happens from now on; `busy` if there are too many."""
        require(self.count < self._most, "busy", f"{self._most} streams are open already", "call again later")
        self._opening += 1
        try:
            async with self._looking:
                if self._watcher is None:
                    self._seen = await self.run(lambda: read_seen(self.store))
                    self._watcher = asyncio.create_task(self._watch())
                else:
                    await self._look()
                listener = Listener(self._seen.position, cut)
                self._listeners.add(listener)
        finally:
            self._opening -= 1
        return listener

    def leave(self, listener: Listener) -> None:
        self._listeners.discard(listener)

    async def _watch(self) -> None:
        try:
            while True:
                await asyncio.sleep(POLL_SECONDS)
                if not self.count:
                    return
                async with self._looking:
                    await self._look()
        finally:
            self._watcher = None

    async def _look(self) -> None:
        """What cannot be read now is read at the next look."""
        try:
            events, self._seen = await self.run(lambda: read_news(self.store, self._seen))
        except Exception as fault:
            tell_fault(fault)
            return
        for listener in list(self._listeners) if events else ():
            listener.offer(events)
