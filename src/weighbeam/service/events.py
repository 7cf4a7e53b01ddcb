"""`GET /v1/events`: what happens, as it happens, by server-sent events."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response, Security
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.reading.news import Event, read_missed, read_position
from weighbeam.network.listen import CUT, STOPPING
from weighbeam.service.callers import Caller
from weighbeam.service.front import SEALED, Front
from weighbeam.service.keep_open import keep_open
from weighbeam.service.query import Given, read_given, take_query
from weighbeam.service.routes import SHOWN
from weighbeam.service.shapes import REFUSED, Refusal, tell_events
from weighbeam.service.streams import Listener, Streams

LONGEST_SECONDS = 3600
BEAT_SECONDS = 15.0
TICK_SECONDS = 0.5
AGAIN = b"retry: 3000\n\n"
BEAT = b": still here\n\n"
HEADERS = {**SEALED, "X-Accel-Buffering": "no"}
QUERY = ("seconds", "after")
ABOUT = """What happens, as it happens: `round`, `weigh_in`, `submission`, `alert`; one JSON object each, with no text
of anybody's. `Last-Event-ID`, or `after`, goes on where a stream ended; `missed` says that too much happened since. A
stream ends after `seconds`, an hour at most; a browser then opens it again by itself."""
EXAMPLE = 'id: 12-5-7\nevent: round\ndata: {"round": "chunking-812-5f0c9a1e", "valid": 24, "answers": 25}\n\n'
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Refusal, "description": REFUSED[status]} for status in (400, 401, 403, 413, 429, 503)
}
RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "events until it ends",
        "content": tell_events(EXAMPLE),
    },
    **REFUSALS,
}


class Told(StreamingResponse):
    """A stream whose listener leaves however it ends."""

    def __init__(self, streams: Streams, listener: Listener, content: AsyncIterator[bytes]) -> None:
        super().__init__(content, headers=HEADERS, media_type="text/event-stream")
        self._streams, self._listener = streams, listener

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with suppress(OSError):
                await super().__call__(scope, receive, send)
        finally:
            self._streams.leave(self._listener)


def add_events(app: FastAPI, front: Front, streams: Streams) -> None:
    @app.get(
        "/v1/events",
        responses=RESPONSES,
        response_class=StreamingResponse,
        openapi_extra=take_query(QUERY),
        dependencies=[Security(SHOWN)],
        tags=["events"],
        description=ABOUT,
    )
    async def events(request: Request) -> Response:
        reply = await front.handle(request, lambda caller, _: (200, _admit(caller, request)))
        if reply.status != 200:
            return reply.write()
        given: Given = reply.content
        listener: Listener | None = None
        try:
            listener = await streams.join(request.scope.get("state", {}).get(CUT, lambda: None))
            missed = await streams.run(partial(_read_missed, streams, listener, given))
        except WeighbeamError as refusal:
            if listener is not None:
                streams.leave(listener)
            return front.refuse(refusal, request.scope["path"]).write()
        stopping: asyncio.Event = request.scope.get("state", {}).get(STOPPING) or asyncio.Event()
        seconds = given.number("seconds", 1, LONGEST_SECONDS, LONGEST_SECONDS)
        told = _tell(listener, missed, stopping.is_set, time.monotonic() + seconds)
        return Told(streams, listener, keep_open(told, partial(front.is_known, request)))


def _admit(caller: Caller, request: Request) -> Given:
    caller.check("read")
    given = read_given(request, QUERY)
    given.number("seconds", 1, LONGEST_SECONDS, LONGEST_SECONDS)
    known = request.headers.get("last-event-id")
    return given if known is None or "after" in given.filters else given.add("after", known)


def _read_missed(streams: Streams, listener: Listener, given: Given) -> list[Event]:
    """Nothing for who has no position of ours: it begins now."""
    since = read_position(given.text("after") or "")
    return [] if since is None else read_missed(streams.store, since, listener.start)


async def _tell(
    listener: Listener, missed: list[Event], is_ending: Callable[[], bool], until: float
) -> AsyncGenerator[bytes]:
    yield AGAIN + b"".join(map(write_event, missed))
    spoke = time.monotonic()
    while not (is_ending() or listener.is_cut or time.monotonic() > until):
        try:
            async with asyncio.timeout(TICK_SECONDS):
                told = write_event(await listener.waiting.get())
        except TimeoutError:
            if time.monotonic() - spoke < BEAT_SECONDS:
                continue
            told = BEAT
        yield told
        spoke = time.monotonic()


def write_event(event: Event) -> bytes:
    """
    >>> from weighbeam.engine.reading.news import Position
    >>> write_event(Event("alert", {"id": 7}, Position(12, 5, 7)))
    b'id: 12-5-7\\nevent: alert\\ndata: {"id": 7}\\n\\n'
    """
    return f"id: {event.position.write()}\nevent: {event.kind}\ndata: {json.dumps(event.data)}\n\n".encode()
