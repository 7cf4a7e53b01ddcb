"""The organic API: ask miners a question, follow it, cancel it (docs/guides/api.md).

Callers need a token with the scope `ask`. A question waits in the store for the validator of the same settings.
"""

from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.responses import StreamingResponse

from weighbeam.core.validation import extend_model
from weighbeam.network.http_server import STOPPING
from weighbeam.service.api import request_shapes as shapes
from weighbeam.service.api.bodies import find_key
from weighbeam.service.api.query import parse_query
from weighbeam.service.api.request_handlers import RequestApi
from weighbeam.service.api.request_streams import RequestStreams
from weighbeam.service.api.routes import Responses, declare_route, describe_events, describe_responses
from weighbeam.service.http.authentication import Authenticator
from weighbeam.service.http.pipeline import SEALED_HEADERS, RequestPipeline, guard_stream
from weighbeam.service.http.threads import ThreadPools

CODES = {"unknown_request": 404, "key_conflict": 409, "not_waiting": 409, "queue_full": 503}
ACCEPTED = {202: "it is waiting, or has progressed since an earlier call with the same key"}
STREAM: Responses = {200: {"content": describe_events(), "description": "server-sent events"}}
LIVE = {**SEALED_HEADERS, "X-Accel-Buffering": "no"}
_route = partial(declare_route, tag="requests")


def add_organic(
    app: FastAPI, authenticator: Authenticator, api: RequestApi, pools: ThreadPools, streams: int = 200
) -> RequestStreams:
    """The routes: a way to ask for every mechanism that asks miners, and ways to follow what was asked."""
    watch = RequestStreams(api.watch, api.describe, pools.watch.run, streams)
    make_pipeline = partial(
        RequestPipeline, authenticator, codes=CODES, run=pools.submissions.run, run_token=pools.tokens.run
    )
    for mechanism in api.asked:
        add_asking(app, make_pipeline(max_body=api.asked[mechanism][0].max_request_bytes), api, mechanism)
    pipeline = make_pipeline(max_body=0)
    add_following(app, pipeline, api)
    add_stream(app, pipeline, api, watch)
    return watch


def add_asking(app: FastAPI, pipeline: RequestPipeline, api: RequestApi, mechanism: str) -> None:
    model = extend_model(shapes.QuestionOptions, api.asked[mechanism][0].question_model)
    told = describe_responses(shapes.RequestState, (400, 409, 413), ACCEPTED)

    @_route(app, "POST", f"/v1/{mechanism}/requests", told, body=model)
    async def put(request: Request) -> Response:
        """Put a question to the miners; the best valid answer comes later."""
        return await pipeline.answer(
            request, lambda caller, body: api.ask(caller, mechanism, body, find_key(request), model)
        )


def add_following(app: FastAPI, pipeline: RequestPipeline, api: RequestApi) -> None:
    @_route(app, "GET", "/v1/requests", describe_responses(shapes.RequestLines, (400,)), query=shapes.RequestsQuery)
    async def show_all(request: Request) -> Response:
        """Your requests, newest first; an admin's are everybody's."""
        return await pipeline.answer(
            request, lambda caller, _: api.list(caller, parse_query(request, shapes.RequestsQuery))
        )

    @_route(app, "GET", "/v1/requests/{request_id}", describe_responses(shapes.RequestState, (404,)))
    async def look(request: Request, request_id: str) -> Response:
        """Where a request stands, and what came of it."""
        return await pipeline.answer(request, lambda caller, _: api.look(caller, request_id))

    @_route(app, "DELETE", "/v1/requests/{request_id}", describe_responses(shapes.RequestState, (404, 409)))
    async def cancel(request: Request, request_id: str) -> Response:
        """Take back what still waits; its text is deleted."""
        return await pipeline.answer(request, lambda caller, _: api.cancel(caller, request_id))


def add_stream(app: FastAPI, pipeline: RequestPipeline, api: RequestApi, watch: RequestStreams) -> None:
    told = {**describe_responses(shapes.RequestState, (404,)), **STREAM}

    @_route(app, "GET", "/v1/requests/{request_id}/events", told)
    async def follow(request: Request, request_id: str) -> Response:
        """Follow a request: `waiting` with its position, `taken`, `observed`, then `done`, `failed` or `cancelled`."""

        def work(caller: Any, _: bytes) -> tuple[int, Any]:
            found = api.find(caller, request_id)
            watch.check_room()
            return 200, found

        reply = await pipeline.handle(request, work)
        if reply.status != 200:
            return reply.write()
        events = watch.follow(reply.content, request.scope["state"][STOPPING])
        known = guard_stream(events, partial(pipeline.is_known, request))
        return StreamingResponse(known, 200, LIVE, "text/event-stream")
