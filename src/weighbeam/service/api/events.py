"""`GET /v1/events`: server-sent events of rounds, weigh-ins, submissions and alerts."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from typing import Annotated

from fastapi import FastAPI, Request, Response, Security
from fastapi.responses import StreamingResponse
from pydantic import Field
from starlette.types import Receive, Scope, Send

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.engine.alerts.alerts import log_fault
from weighbeam.engine.views.changes import (
    JournalEvent,
    NewsPosition,
    NewsState,
    parse_position,
    select_missed,
    select_news,
    select_news_state,
)
from weighbeam.network.http_server import CUT, STOPPING
from weighbeam.service.api.query import FROM_DIGITS, Query, describe_query, parse_query
from weighbeam.service.api.routes import SHOWN, Responses, describe_events, describe_refusals
from weighbeam.service.http.callers import Caller
from weighbeam.service.http.pipeline import SEALED_HEADERS, BlockingRunner, RequestPipeline, guard_stream
from weighbeam.store.database import Store

POLL_SECONDS = 1.0
MAX_WAITING = 500


class EventListener:
    """One stream and its pending events. A listener that is too slow is disconnected."""

    def __init__(self, start: NewsPosition, cut: Callable[[], None]) -> None:
        self.start = start
        self.waiting: asyncio.Queue[JournalEvent] = asyncio.Queue(MAX_WAITING)
        self.is_cut = False
        self._cut = cut

    def offer(self, events: list[JournalEvent]) -> None:
        try:
            for event in events:
                self.waiting.put_nowait(event)
        except asyncio.QueueFull:
            self.is_cut = True
            self._cut()


class EventStreams:
    """All listeners of a process; used in its event loop alone."""

    def __init__(self, store: Store, limit: int, run: BlockingRunner = asyncio.to_thread) -> None:
        self.store = store
        self._most = limit
        self.run: BlockingRunner = run
        self._listeners: set[EventListener] = set()
        self._opening = 0
        self._looking = asyncio.Lock()
        self._watcher: asyncio.Task[None] | None = None
        self._seen = NewsState(NewsPosition())

    @property
    def count(self) -> int:
        return len(self._listeners) + self._opening

    async def join(self, cut: Callable[[], None]) -> EventListener:
        """Add a listener for all events from now on; `busy` if there are too many."""
        require(self.count < self._most, "busy", f"{self._most} streams are open already", "call again later")
        self._opening += 1
        try:
            async with self._looking:
                if self._watcher is None:
                    self._seen = await self.run(lambda: select_news_state(self.store))
                    self._watcher = asyncio.create_task(self._watch())
                else:
                    await self._look()
                listener = EventListener(self._seen.position, cut)
                self._listeners.add(listener)
        finally:
            self._opening -= 1
        return listener

    def leave(self, listener: EventListener) -> None:
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
        """Read new events; a failed read is repeated at the next look."""
        try:
            events, self._seen = await self.run(lambda: select_news(self.store, self._seen))
        except Exception as fault:
            log_fault(fault)
            return
        for listener in list(self._listeners) if events else ():
            listener.offer(events)


LONGEST_SECONDS = 3600
BEAT_SECONDS = 15.0
TICK_SECONDS = 0.5
AGAIN = b"retry: 3000\n\n"
BEAT = b": still here\n\n"
HEADERS = {**SEALED_HEADERS, "X-Accel-Buffering": "no"}
ABOUT = """Events as they happen: `round`, `weigh_in`, `submission`, `alert`; one JSON object each, without texts of
miners or users. `Last-Event-ID`, or `after`, resumes where a stream ended; `missed` means that too much happened since.
A stream ends after `seconds`, an hour at most; a browser then opens it again by itself."""
EXAMPLE = 'id: 12-5-7\nevent: round\ndata: {"round": "keyword-recall-812-5f0c9a1e", "valid": 24, "answers": 25}\n\n'
RESPONSES: Responses = {
    200: {"description": "events until it ends", "content": describe_events(EXAMPLE)},
    **describe_refusals((400,)),
}


class EventsQuery(Query):
    seconds: Annotated[
        int, Field(ge=1, le=LONGEST_SECONDS, description="the stream ends after this many"), FROM_DIGITS
    ] = LONGEST_SECONDS
    after: Annotated[str | None, Field(description="the id of the last event known", examples=["12-5-7"])] = None


class EventStreamResponse(StreamingResponse):
    """A stream whose listener leaves however it ends."""

    def __init__(self, streams: EventStreams, listener: EventListener, content: AsyncIterator[bytes]) -> None:
        super().__init__(content, headers=HEADERS, media_type="text/event-stream")
        self._streams, self._listener = streams, listener

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with suppress(OSError):
                await super().__call__(scope, receive, send)
        finally:
            self._streams.leave(self._listener)


def add_events(app: FastAPI, pipeline: RequestPipeline, streams: EventStreams) -> None:
    @app.get(
        "/v1/events",
        responses=RESPONSES,
        response_class=StreamingResponse,
        openapi_extra=describe_query(EventsQuery),
        dependencies=[Security(SHOWN)],
        tags=["events"],
        description=ABOUT,
    )
    async def events(request: Request) -> Response:
        reply = await pipeline.handle(request, lambda caller, _: (200, _admit(caller, request)))
        if reply.status != 200:
            return reply.write()
        given: EventsQuery = reply.content
        listener: EventListener | None = None
        try:
            listener = await streams.join(request.scope.get("state", {}).get(CUT, lambda: None))
            missed = await streams.run(partial(_select_missed, streams, listener, given))
        except WeighbeamError as refusal:
            if listener is not None:
                streams.leave(listener)
            return pipeline.refuse(refusal, request.scope["path"]).write()
        stopping: asyncio.Event = request.scope.get("state", {}).get(STOPPING) or asyncio.Event()
        told = _stream_events(listener, missed, stopping.is_set, time.monotonic() + given.seconds)
        return EventStreamResponse(streams, listener, guard_stream(told, partial(pipeline.is_known, request)))


def _admit(caller: Caller, request: Request) -> EventsQuery:
    caller.check("read")
    given = parse_query(request, EventsQuery)
    return (
        given if given.after is not None else given.model_copy(update={"after": request.headers.get("last-event-id")})
    )


def _select_missed(streams: EventStreams, listener: EventListener, given: EventsQuery) -> list[JournalEvent]:
    """Nothing for who has no position of ours: it begins now."""
    since = parse_position(given.after or "")
    return [] if since is None else select_missed(streams.store, since, listener.start)


async def _stream_events(
    listener: EventListener, missed: list[JournalEvent], is_ending: Callable[[], bool], until: float
) -> AsyncGenerator[bytes]:
    yield AGAIN + b"".join(map(encode_event, missed))
    spoke = time.monotonic()
    while not (is_ending() or listener.is_cut or time.monotonic() > until):
        try:
            async with asyncio.timeout(TICK_SECONDS):
                told = encode_event(await listener.waiting.get())
        except TimeoutError:
            if time.monotonic() - spoke < BEAT_SECONDS:
                continue
            told = BEAT
        yield told
        spoke = time.monotonic()


def encode_event(event: JournalEvent) -> bytes:
    """
    >>> from weighbeam.engine.views.changes import NewsPosition
    >>> encode_event(JournalEvent("alert", {"id": 7}, NewsPosition(12, 5, 7)))
    b'id: 12-5-7\\nevent: alert\\ndata: {"id": 7}\\n\\n'
    """
    return f"id: {event.position.format()}\nevent: {event.kind}\ndata: {json.dumps(event.data)}\n\n".encode()
