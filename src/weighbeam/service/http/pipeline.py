"""The request pipeline of every API: authenticate, admit, read what is capped, work in a thread, answer."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from fastapi import Request, Response

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import log_fault
from weighbeam.network import request_auth as auth
from weighbeam.network.http_server import name_origin
from weighbeam.network.miner_app import STATUS, receive
from weighbeam.service.http.authentication import Authenticator, is_signed
from weighbeam.service.http.callers import Caller
from weighbeam.service.http.rate_limit import RateLimited

RECHECK_SECONDS = 1.0


async def guard_stream(stream: AsyncGenerator[bytes], is_known: Callable[[], Awaitable[bool]]) -> AsyncIterator[bytes]:
    """Stream until the listener loses access; access is checked before each event."""
    looked = time.monotonic()
    async with aclosing(stream):
        async for told in stream:
            if time.monotonic() - looked >= RECHECK_SECONDS:
                looked = time.monotonic()
                if not await is_known():
                    return
            yield told


Result = TypeVar("Result")
Work = Callable[[Caller, bytes], tuple[int, Any]]
Recall = Callable[[Caller, bool], tuple[int, Any] | None]
"""Cached replies for a caller; a slightly old one is allowed if the flag says that too many ask."""
AGAIN = {429: {"Retry-After": "5"}, 503: {"Retry-After": "5"}}
BEARER, BASIC = {"WWW-Authenticate": "Bearer"}, {"WWW-Authenticate": 'Basic realm="weighbeam", charset="UTF-8"'}
API = "/v1/"
SEALED_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}
"""Headers of everything except pages: no shared cache, and no guessing of the content type."""
CODES = {**STATUS, "bad_token": 401, "missing_scope": 403, "store_fault": 503}
CROWDED = ("busy", "queue_full")
REMEDIES = {
    401: "send a token as a bearer, or sign the request as the guide 'Ask over HTTP' says",
    413: "send less",
    429: "wait as Retry-After says",
    503: "wait as Retry-After says",
}


class BlockingRunner(Protocol):
    """Does blocking work somewhere else than in the event loop."""

    def __call__(self, work: Callable[[], Result], /) -> Coroutine[Any, Any, Result]: ...


@dataclass(frozen=True, slots=True)
class ApiReply:
    """`headers` are those a refusal needs: how to show who calls, and when to call again."""

    status: int
    content: Any
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def refusal(self) -> str | None:
        """Why nothing came of it, by its code."""
        return self.content.get("error") if self.status >= 400 else None

    def write(self) -> Response:
        return Response(json.dumps(self.content), self.status, {**SEALED_HEADERS, **self.headers}, "application/json")


@dataclass(frozen=True, slots=True)
class RequestPipeline:
    """Authentication, limits and errors of one API. `codes` maps its error codes to HTTP statuses; others are 400."""

    authenticator: Authenticator
    max_body: int
    codes: Mapping[str, int]
    run: BlockingRunner = asyncio.to_thread
    run_proof: BlockingRunner = asyncio.to_thread
    run_token: BlockingRunner = asyncio.to_thread
    is_crowded: Callable[[], bool] = lambda: False

    async def answer(self, request: Request, work: Work) -> Response:
        return (await self.handle(request, work)).write()

    async def handle(self, request: Request, work: Work, recall: Recall | None = None) -> ApiReply:
        """Handle a request. `work` gets the authenticated caller and the raw body.

        Known callers and cached replies (`recall`) need no thread, so they never wait.
        """
        try:
            head = receive_head(request)
            if is_signed(head) and self.authenticator.signers is not None:
                return await self._handle_signed(request, work)
            origin = find_origin(request)
            caller = await self._prove(head, origin)
            with self.authenticator.admit(caller, origin):
                given = await receive(request, self.max_body)
                known = None if recall is None else recall(caller, self.is_crowded())
                return ApiReply(*(await self.run(lambda: work(caller, given.body)) if known is None else known))
        except WeighbeamError as refusal:
            return self.refuse(refusal, request.scope["path"])
        except Exception as fault:
            log_fault(fault)
            return ApiReply(500, {"error": "handler_fault", "message": "internal error", "remedy": "call again later"})

    async def _prove(self, head: auth.SignedRequest, origin: str) -> Caller:
        known = self.authenticator.recall(head)
        if known is not None:
            return known
        with self.authenticator.pace_unproven(head, origin):
            return await self.run_token(lambda: self.authenticator.prove(head))

    async def _handle_signed(self, request: Request, work: Work) -> ApiReply:
        """A signature is over the body too, so that is read first; nobody else's is before it is known who calls."""
        given = await receive(request, self.max_body)
        caller = await self.run_proof(lambda: self.authenticator.prove(given))
        with self.authenticator.admit(caller, find_origin(request)):
            return ApiReply(*await self.run(lambda: work(caller, given.body)))

    async def is_known(self, request: Request) -> bool:
        """Whether what was shown opens something still; while the store cannot tell, it does."""
        try:
            await self.run_token(lambda: self.authenticator.prove(receive_head(request)))
        except WeighbeamError as refusal:
            return refusal.code != "bad_token"
        return True

    def refuse(self, refusal: WeighbeamError, path: str) -> ApiReply:
        """Format a refusal for the caller."""
        status = {**CODES, **self.codes}.get(refusal.code, 400)
        message, remedy = refusal.message, refusal.remedy or REMEDIES.get(status, "the page 'Errors' lists the code")
        if refusal.code == "too_large":
            message = f"the body is larger than {self.max_body} bytes"
        elif status >= 500 and refusal.code not in CROWDED:
            log_fault(refusal)
            message, remedy = "internal error; the operator's log says more", "call again later"
        content = {"error": refusal.code, "message": message, "remedy": remedy}
        return ApiReply(status, content, find_advice(status, refusal, path))


def find_advice(status: int, refusal: WeighbeamError, path: str) -> Mapping[str, str]:
    """Headers that say what to do: a browser asks for a token where there are pages, and only there."""
    if status == 401:
        return BEARER if path.startswith(API) else BASIC
    if isinstance(refusal, RateLimited):
        return {"Retry-After": str(refusal.seconds)}
    return AGAIN.get(status, {})


def receive_head(request: Request) -> auth.SignedRequest:
    """A request without its body."""
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.scope["headers"]]
    return auth.SignedRequest(request.method, "", headers, b"")


def find_origin(request: Request) -> str:
    return name_origin(None if request.client is None else tuple(request.client))
