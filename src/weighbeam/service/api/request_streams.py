"""Requests followed live by server-sent events: one poll of the store for all followers, off the event loop."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.engine.alerts.alerts import log_fault
from weighbeam.engine.requests.progress import Progress
from weighbeam.service.http.pipeline import BlockingRunner

LOOK_SECONDS = 0.5
BEAT_SECONDS = 15.0
MAX_SECONDS = 900.0
AT_ONCE = 8
BEAT = b": still here\n\n"
Look = Callable[[Collection[str]], Mapping[str, Progress]]
Describe = Callable[[Progress], dict[str, Any]]


class RequestFollower:
    """One stream: the newest that is known of its request, and whether that is news to it."""

    def __init__(self, first: Progress) -> None:
        self.id = first.id
        self.newest = first
        self.news = asyncio.Event()
        self.news.set()

    async def wait(self) -> Progress | None:
        """News, if there are any within a moment."""
        try:
            await asyncio.wait_for(self.news.wait(), LOOK_SECONDS)
        except TimeoutError:
            return None
        self.news.clear()
        return self.newest

    def tell(self, seen: Progress | None) -> None:
        if seen is not None and (seen.stage, seen.position) != (self.newest.stage, self.newest.position):
            self.newest = seen
            self.news.set()


class RequestStreams:
    """At most `limit` streams; `run` does the blocking looks."""

    def __init__(
        self, look: Look, describe: Describe, run: BlockingRunner, limit: int, beat: float = BEAT_SECONDS
    ) -> None:
        self._look = look
        self._describe = describe
        self._run: BlockingRunner = run
        self._most = limit
        self.beat = beat
        self._telling = asyncio.Semaphore(AT_ONCE)
        self._looking: asyncio.Task[None] | None = None
        self.followers: set[RequestFollower] = set()

    def check_room(self) -> None:
        require(len(self.followers) < self._most, "busy", "too many streams are open", "ask for the status instead")

    async def follow(self, first: Progress, stopping: asyncio.Event) -> AsyncGenerator[bytes]:
        """Server-sent events until it has ended; a stream that lasts too long ends too, to be opened again."""
        follower, began = RequestFollower(first), time.monotonic()
        told_at = began
        self.followers.add(follower)
        if self._looking is None:
            self._looking = asyncio.create_task(self._keep_looking())
        try:
            while told_at < began + MAX_SECONDS and not stopping.is_set():
                newest = await follower.wait()
                if newest is not None:
                    told_at = time.monotonic()
                    yield await self._tell(newest)
                    if newest.ended:
                        return
                elif time.monotonic() >= told_at + self.beat:
                    told_at = time.monotonic()
                    yield BEAT
        except WeighbeamError as fault:
            log_fault(fault)
        finally:
            self.followers.discard(follower)

    async def _tell(self, newest: Progress) -> bytes:
        """Format the event; if the store cannot be read, the stream ends, and a new stream sends it.

        Streams wait here for each other, because the threads' queue is short.
        """
        async with self._telling:
            return encode_request_event(newest.stage, await self._run(lambda: self._describe(newest)))

    async def _keep_looking(self) -> None:
        try:
            while self.followers:
                await asyncio.sleep(LOOK_SECONDS)
                await self._look_once()
        finally:
            self._looking = None

    async def _look_once(self) -> None:
        """A store that cannot be read now is read again later."""
        ids = {follower.id for follower in self.followers}
        try:
            seen = await self._run(lambda: self._look(ids))
        except WeighbeamError:
            return
        except Exception as fault:
            log_fault(fault)
            return
        for follower in list(self.followers):
            follower.tell(seen.get(follower.id))


def encode_request_event(name: str, content: Any) -> bytes:
    """
    >>> encode_request_event("waiting", {"position": 1})
    b'event: waiting\\ndata: {"position": 1}\\n\\n'
    """
    return f"event: {name}\ndata: {json.dumps(content)}\n\n".encode()
