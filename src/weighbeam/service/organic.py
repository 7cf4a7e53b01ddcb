"""The organic API: put a question to miners, follow it, take it back (docs/api.md).

Whoever asks shows a token with the scope `ask`. A question waits in the store for the validator of the same settings.
"""

from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.responses import StreamingResponse

from weighbeam.network.listen import STOPPING
from weighbeam.network.serve import MAX_BODY
from weighbeam.service import shapes_organic as shapes
from weighbeam.service.clerk import Clerk
from weighbeam.service.front import SEALED, Front
from weighbeam.service.gate import Gate
from weighbeam.service.keep_open import keep_open
from weighbeam.service.novelty import find_key
from weighbeam.service.pool import Pools
from weighbeam.service.query import read_given
from weighbeam.service.routes import declare_route
from weighbeam.service.shapes import ask, describe, take, tell_events
from weighbeam.service.watch import Watch

MOST_BODY = 1 << 20
FILTERS = ("before", "most")
CODES = {"unknown_request": 404, "key_conflict": 409, "not_waiting": 409, "queue_full": 503}
ACCEPTED = {202: "it waits, or has gone on since: an earlier call had the same key"}
STREAM = {200: {"content": tell_events(), "description": "server-sent events"}}
LIVE = {**SEALED, "X-Accel-Buffering": "no"}
_route = partial(declare_route, tag="requests")


def add_organic(app: FastAPI, gate: Gate, clerk: Clerk, pools: Pools, streams: int = 200) -> Watch:
    """The routes: a way to ask for every mechanism that asks miners, and ways to follow what was asked."""
    watch = Watch(clerk.watch, clerk.describe, pools.watch.run, streams)
    make_front = partial(Front, gate, codes=CODES, run=pools.desk.run, run_token=pools.tokens.run)
    for mechanism in clerk.asked:
        add_asking(app, make_front(most_body=MAX_BODY.get(mechanism, MOST_BODY)), clerk, mechanism)
    front = make_front(most_body=0)
    add_following(app, front, clerk)
    add_stream(app, front, clerk, watch)
    return watch


def add_asking(app: FastAPI, front: Front, clerk: Clerk, mechanism: str) -> None:
    fields, shape = shapes.list_fields(mechanism), shapes.QUESTIONS.get(mechanism, shapes.AnyQuestion)
    told = describe(shapes.RequestState, (400, 409, 413), ACCEPTED)

    @_route(app, "POST", f"/v1/{mechanism}/requests", told, take(shape))
    async def put(request: Request) -> Response:
        """Put a question to the miners; the best valid answer comes later."""
        return await front.answer(
            request, lambda caller, body: clerk.ask(caller, mechanism, body, find_key(request), fields)
        )


def add_following(app: FastAPI, front: Front, clerk: Clerk) -> None:
    @_route(app, "GET", "/v1/requests", describe(shapes.Lines, (400,)), ask(FILTERS))
    async def show_all(request: Request) -> Response:
        """Your requests, newest first; an admin's are everybody's."""
        return await front.answer(request, lambda caller, _: clerk.list(caller, read_given(request, FILTERS).filters))

    @_route(app, "GET", "/v1/requests/{request_id}", describe(shapes.RequestState, (404,)))
    async def look(request: Request, request_id: str) -> Response:
        """Where a request stands, and what came of it."""
        return await front.answer(request, lambda caller, _: clerk.look(caller, request_id))

    @_route(app, "DELETE", "/v1/requests/{request_id}", describe(shapes.RequestState, (404, 409)))
    async def cancel(request: Request, request_id: str) -> Response:
        """Take back what still waits; its text is deleted."""
        return await front.answer(request, lambda caller, _: clerk.cancel(caller, request_id))


def add_stream(app: FastAPI, front: Front, clerk: Clerk, watch: Watch) -> None:
    told = {**describe(shapes.RequestState, (404,)), **STREAM}

    @_route(app, "GET", "/v1/requests/{request_id}/events", told)
    async def follow(request: Request, request_id: str) -> Response:
        """Follow a request: `waiting` with its position, `taken`, `observed`, then `done`, `failed` or `cancelled`."""

        def work(caller: Any, _: bytes) -> tuple[int, Any]:
            found = clerk.find(caller, request_id)
            watch.check_room()
            return 200, found

        reply = await front.handle(request, work)
        if reply.status != 200:
            return reply.write()
        events = watch.follow(reply.content, request.scope["state"][STOPPING])
        known = keep_open(events, partial(front.is_known, request))
        return StreamingResponse(known, 200, LIVE, "text/event-stream")
