"""Ask miners: one signed request each, timed at the socket, capped, verified; every outcome has a status."""

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2

from weighbeam.core.canonical import seeded_digest
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.contract import Reply as Status
from weighbeam.network.address import Dialled, resolve_endpoint
from weighbeam.network.keys import Hotkey
from weighbeam.network.nonces import NonceClock
from weighbeam.network.sign_headers import sign_request
from weighbeam.network.strict_json import read_strict
from weighbeam.network.verify_reply import verify_reply

MAX_REPLY = {"chunking": 16 << 20, "inference": 256 << 10, "evidence": 256 << 10}
MAX_HEADERS = 16 << 10
CONNECT_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Target:
    """A miner to ask; `endpoint` None means it announced none."""

    hotkey: str
    endpoint: str | None


@dataclass(frozen=True, slots=True)
class Question:
    """What every miner of a round is sent."""

    round: str
    mechanism: str
    params_hash: str
    task: Mapping[str, Any]
    deadline_seconds: float
    seed: str | int


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of asking one miner."""

    hotkey: str
    status: Status
    reason: str | None
    seconds: float
    payload: Any = None


@dataclass(frozen=True, slots=True)
class AskSettings:
    parallel: int = 64
    per_address: int = 2
    allow_private: bool = False
    require_signed: bool = True


@dataclass(slots=True)
class Stopwatch:
    """From the first byte of the request to the last of the reply, as the transport reports them."""

    started: float | None = None
    ended: float | None = None

    async def trace(self, event: str, _: Mapping[str, Any]) -> None:
        if event == "http11.send_request_headers.started":
            self.started = time.monotonic()
        elif event == "http11.receive_response_body.complete":
            self.ended = time.monotonic()

    @property
    def seconds(self) -> float:
        if self.started is None:
            return 0.0
        return round((self.ended or time.monotonic()) - self.started, 6)


@dataclass(slots=True)
class Asker:
    """Asks on behalf of one hotkey."""

    hotkey: Hotkey
    settings: AskSettings = field(default_factory=AskSettings)
    clock: NonceClock = field(default_factory=NonceClock)

    async def ask_all(self, question: Question, targets: Sequence[Target]) -> list[Heard]:
        """One reply per target, in the order given; asked in an order that only the seed decides."""
        body = json.dumps(
            {
                "round": question.round,
                "mechanism": question.mechanism,
                "params_hash": question.params_hash,
                "task": question.task,
                "deadline_seconds": question.deadline_seconds,
            },
            ensure_ascii=False,
            allow_nan=False,
        ).encode()
        slots = asyncio.Semaphore(self.settings.parallel)
        per_address: defaultdict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(self.settings.per_address)
        )
        order = sorted(range(len(targets)), key=lambda i: seeded_digest(question.seed, "ask", targets[i].hotkey))
        limits = httpx2.Limits(max_connections=self.settings.parallel, max_keepalive_connections=0)
        heard: list[Heard | None] = [None] * len(targets)

        async def one(position: int, client: httpx2.AsyncClient) -> None:
            target = targets[position]
            try:
                dialled = await self._dial(target)
            except WeighbeamError as refusal:
                heard[position] = Heard(target.hotkey, "unreachable", refusal.code, 0.0)
                return
            async with per_address[dialled.address], slots:
                heard[position] = await self._ask(client, question, target, dialled, body)

        async with httpx2.AsyncClient(limits=limits, timeout=None, trust_env=False, follow_redirects=False) as client:
            await asyncio.gather(*(one(position, client) for position in order))
        return [reply for reply in heard if reply is not None]

    async def _dial(self, target: Target) -> Dialled:
        if target.endpoint is None:
            raise WeighbeamError("no_endpoint")
        async with asyncio.timeout(CONNECT_SECONDS):
            return await resolve_endpoint(target.endpoint, self.settings.allow_private)

    async def _ask(
        self, client: httpx2.AsyncClient, question: Question, target: Target, dialled: Dialled, body: bytes
    ) -> Heard:
        watch = Stopwatch()
        try:
            async with asyncio.timeout(question.deadline_seconds):
                status, reason, payload = await self._exchange(client, question, target, dialled, body, watch)
        except TimeoutError:
            status, reason, payload = "timeout", None, None
        except (MemoryError, OSError) as fault:
            status, reason, payload = "validator_error", type(fault).__name__, None
        return Heard(target.hotkey, status, reason, watch.seconds, payload)

    async def _exchange(
        self,
        client: httpx2.AsyncClient,
        question: Question,
        target: Target,
        dialled: Dialled,
        body: bytes,
        watch: Stopwatch,
    ) -> tuple[Status, str | None, Any]:
        """One attempt, and a second one only if nothing had been sent."""
        for attempt in (1, 2):
            try:
                return await self._send(client, question, target, dialled, body, watch)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                if attempt == 2 or watch.started is not None:
                    return "unreachable", "connect", None
            except httpx2.RemoteProtocolError:
                return "malformed", "protocol", None
            except httpx2.TransportError:
                return ("malformed", "cut", None) if watch.started is not None else ("unreachable", "connect", None)
        raise AssertionError("unreachable")

    async def _send(
        self,
        client: httpx2.AsyncClient,
        question: Question,
        target: Target,
        dialled: Dialled,
        body: bytes,
        watch: Stopwatch,
    ) -> tuple[Status, str | None, Any]:
        path = f"/weighbeam/1/{question.mechanism}/ask"
        nonce = self.clock.next()
        headers, digest = sign_request(self.hotkey, "POST", path, body, nonce, target.hotkey)
        headers |= {
            "Content-Type": "application/json",
            "Accept-Encoding": "identity",
            "Host": f"{dialled.host}:{dialled.port}",
        }
        request = client.build_request(
            "POST",
            dialled.url + path,
            content=body,
            headers=headers,
            extensions={
                "trace": watch.trace,
                "sni_hostname": dialled.host,
                "timeout": {"connect": CONNECT_SECONDS, "read": None, "write": None, "pool": None},
            },
        )
        response = await client.send(request, stream=True)
        try:
            reply = await _read_capped(response, MAX_REPLY.get(question.mechanism, 1 << 20))
        finally:
            await response.aclose()
        if reply is None:
            return "too_large", None, None
        return self._judge(response, reply, question, target, digest, nonce)

    def _judge(
        self, response: httpx2.Response, reply: bytes, question: Question, target: Target, digest: str, nonce: str
    ) -> tuple[Status, str | None, Any]:
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw]
        if response.headers.get("content-encoding", "identity") != "identity":
            return "malformed", "encoded", None
        if sum(len(name) + len(value) for name, value in headers) > MAX_HEADERS:
            return "malformed", "headers", None
        if response.status_code != 200:
            return _judge_refusal(response.status_code, reply)
        try:
            verify_reply(headers, 200, reply, digest, int(nonce), target.hotkey, self.hotkey.address, time.time_ns())
        except WeighbeamError as refusal:
            if refusal.code != "unsigned_reply" or self.settings.require_signed:
                return "malformed", refusal.code, None
        try:
            value = read_strict(reply)
        except WeighbeamError:
            return "malformed", "json", None
        if not isinstance(value, dict) or "payload" not in value or value.get("round") != question.round:
            return "malformed", "shape", None
        return "ok", None, value["payload"]


async def _read_capped(response: httpx2.Response, most: int) -> bytes | None:
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_raw():
        size += len(part)
        if size > most:
            return None
        parts.append(part)
    return b"".join(parts)


def _judge_refusal(status: int, reply: bytes) -> tuple[Status, str | None, Any]:
    """What a refusal means; nothing in it is trusted beyond its status and a known code."""
    known = {429: "rate_limited", 503: "busy"}
    if status in known:
        return "error", known[status], None
    if status == 401:
        code = _read_code(reply)
        if code == "wrong_receiver":
            return "unreachable", "wrong_receiver", None
        return "error", code if code == "stale" else "401", None
    return "error", str(status), None


def _read_code(reply: bytes) -> str | None:
    try:
        value = read_strict(reply[:1024])
    except WeighbeamError:
        return None
    code = value.get("error") if isinstance(value, dict) else None
    return code if isinstance(code, str) else None
