"""A miner's HTTP server: verifies who asks, runs the task within its deadline, signs every reply after that."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from fastapi import FastAPI, Request, Response
from fastapi.telemetry import TelemetryConfig
from starlette.requests import ClientDisconnect

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_number
from weighbeam.network import request_auth as auth
from weighbeam.network.http_server import TARGET
from weighbeam.network.keys import Hotkey
from weighbeam.network.nonces import KEEP_SECONDS, NonceClock, NonceStore
from weighbeam.network.policy import SenderPolicy
from weighbeam.network.replies import encode_reply_body
from weighbeam.network.signatures import sign_reply
from weighbeam.network.signing_dialects import Btauth, Dialect, detect_dialect
from weighbeam.network.strict_json import parse_strict

LOG = logging.getLogger("weighbeam")
Result = TypeVar("Result")
Handler = Callable[[dict[str, Any], float], Awaitable[Any]]
BODY_SECONDS = 30.0
NO_TELEMETRY: TelemetryConfig = {
    "auto_configure": False,
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
}
"""Of FastAPI, whose own telemetry an environment variable could switch on: it would export addresses and messages."""
MAX_REQUEST_BYTES = 1 << 20
MAX_REQUEST_NODES = 1 << 14
MAX_ROUND_ID = 80
STATUS = {
    "length_required": 411,
    "too_large": 413,
    "malformed_auth": 401,
    "scheme_not_allowed": 401,
    "wrong_receiver": 401,
    "stale": 401,
    "bad_signature": 401,
    "replayed": 401,
    "not_allowed": 403,
    "rate_limited": 429,
    "busy": 503,
    "malformed": 400,
    "unknown_mechanism": 404,
    "timeout": 504,
    "handler_fault": 500,
    "disconnected": 499,
}


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """One request as the log keeps it: no bodies.

    `mechanism` is None unless it is served here; `round` is the sender's text, cut to `MAX_ROUND_ID`.
    """

    sender: str | None
    status: int
    code: str | None
    seconds: float
    mechanism: str | None = None
    round: str | None = None


def make_miner_app(
    hotkey: Hotkey,
    handlers: Mapping[str, Handler],
    nonces: NonceStore,
    policy: SenderPolicy,
    log: Callable[[ServedRequest], None] = lambda _: None,
    dialects: Sequence[Dialect] = (Btauth(),),
    max_bytes: Mapping[str, int] = {},
    max_nodes: Mapping[str, int] = {},
) -> FastAPI:
    """The app of one miner: `POST /weighbeam/1/{mechanism}/ask` and `GET /weighbeam/1/info`; `listen` serves it.

    Of several `dialects` a request is judged by the one whose version header it carries. Replies are signed where
    the dialect has signed replies. `max_bytes` is the largest request of each mechanism, 1 MiB if it is not there, and
    `max_nodes` the most JSON values and keys in it, 16,384 if it is not there.
    """
    for dialect in dialects:
        remembered = dialect.max_age_seconds + dialect.skew_seconds <= KEEP_SECONDS
        require(remembered, "window_too_long", f"{dialect.name} outlives the nonces", f"allow {KEEP_SECONDS} s at most")
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, telemetry=NO_TELEMETRY)
    clock = NonceClock()

    def is_new(sender: str, request_id: str, signed_at: int) -> bool:
        """Check the nonce; skip the slow write for senders that the policy will refuse."""
        if not policy.may_ask(sender):
            return True
        policy.check_pace(sender)
        return nonces.is_new(sender, request_id, signed_at)

    async def answer(request: Request, mechanism: str | None) -> Response:
        start = time.monotonic()
        caller: auth.VerifiedSender | None = None
        code: str | None = None
        round_id: str | None = None
        signs = True
        try:
            given = await receive(request, max_bytes.get(mechanism or "", MAX_REQUEST_BYTES))
            dialect = detect_dialect(dialects, given.headers)
            signs = dialect.signs_replies
            caller = dialect.verify(given, hotkey.address, time.time_ns(), is_new)
            with policy.admit(caller.sender):
                round_id, work = _begin(mechanism, given.body, max_nodes, handlers, hotkey)
                status, content = await _while_connected(request, work)
        except WeighbeamError as refusal:
            code = refusal.code
            status, content = STATUS.get(code, 400), {"error": code}
        reply = encode_reply_body(content)
        headers = {"Content-Type": "application/json"}
        if status in (429, 503):
            headers["Retry-After"] = "1"
        if caller is not None and signs:
            headers |= sign_reply(hotkey, status, reply, caller.payload, clock.next(), caller.sender)
        served = mechanism if mechanism in handlers else None
        sender = caller.sender if caller else None
        log(ServedRequest(sender, status, code, time.monotonic() - start, served, round_id))
        return Response(reply, status, headers)

    @app.post("/weighbeam/1/{mechanism}/ask")
    async def ask(request: Request, mechanism: str) -> Response:
        return await answer(request, mechanism)

    @app.get("/weighbeam/1/info")
    async def info(request: Request) -> Response:
        return await answer(request, None)

    return app


async def receive(request: Request, limit: int) -> auth.SignedRequest:
    """Receive the raw request: nothing parsed or decoded, the body within the cap."""
    target: bytes = request.scope["state"][TARGET]
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.scope["headers"]]
    body = await _receive_body(request, limit)
    return auth.SignedRequest(request.method, target.decode("latin-1"), headers, body)


async def _receive_body(request: Request, limit: int) -> bytes:
    """Receive the body; refuse it by its declared length, or once the counted bytes exceed the limit."""
    declared = request.headers.get("content-length", "")
    require(not declared.isdecimal() or (len(declared) < 19 and int(declared) <= limit), "too_large")
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                size += len(part)
                require(size <= limit, "too_large")
                parts.append(part)
    except TimeoutError:
        raise WeighbeamError("malformed", "the body came too slowly") from None
    except ClientDisconnect:
        raise WeighbeamError("disconnected", "the body was cut off", "send all of it") from None
    return b"".join(parts)


async def _while_connected(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Result of the work, which is cancelled when the asker disconnects."""
    task, gone = asyncio.create_task(work), asyncio.create_task(_hang_up(request))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        require(task.done(), "disconnected", "the asker hung up", "wait for the reply")
        return await task
    finally:
        task.cancel()
        gone.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _hang_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _begin(
    mechanism: str | None, body: bytes, max_nodes: Mapping[str, int], handlers: Mapping[str, Handler], hotkey: Hotkey
) -> tuple[str | None, Coroutine[Any, Any, tuple[int, dict[str, Any]]]]:
    """The id of the round that is asked for, and the work to be done."""
    if mechanism is None:
        return None, _describe_miner(hotkey, handlers)
    question = _parse_question(mechanism, body, max_nodes, handlers)
    round_id = question["round"]
    named = round_id[:MAX_ROUND_ID] if isinstance(round_id, str) else None
    return named, _answer_question(mechanism, question, handlers)


def _parse_question(
    mechanism: str, body: bytes, max_nodes: Mapping[str, int], handlers: Mapping[str, Handler]
) -> dict[str, Any]:
    if mechanism not in handlers:
        raise WeighbeamError("unknown_mechanism", "this miner does not serve the mechanism", "ask another miner")
    question = parse_strict(body, max_nodes=max_nodes.get(mechanism, MAX_REQUEST_NODES))
    sound = isinstance(question, dict) and isinstance(question.get("task"), dict) and "round" in question
    if not sound or not is_number(question.get("deadline_seconds"), 0):
        raise WeighbeamError("malformed", "the body is not a task", "send {round, task, deadline_seconds}")
    return cast(dict[str, Any], question)


async def _describe_miner(hotkey: Hotkey, handlers: Mapping[str, Handler]) -> tuple[int, dict[str, Any]]:
    return 200, {"hotkey": hotkey.address, "mechanisms": sorted(handlers), "protocol": 1}


async def _answer_question(
    mechanism: str, question: Mapping[str, Any], handlers: Mapping[str, Handler]
) -> tuple[int, dict[str, Any]]:
    seconds = float(question["deadline_seconds"])
    try:
        async with asyncio.timeout(seconds):
            payload = await handlers[mechanism](question["task"], seconds)
    except TimeoutError:
        raise WeighbeamError("timeout", "the deadline passed", "give more time") from None
    except WeighbeamError:
        raise
    except Exception as fault:
        LOG.error(
            "the handler of %s raised; its traceback follows | remedy: fix the handler", mechanism, exc_info=fault
        )
        raise WeighbeamError("handler_fault", f"{type(fault).__name__}", "see the miner's log") from fault
    return 200, {"round": question["round"], "payload": payload}
