"""Ask miners: one signed request each, timed at the socket, capped, verified; every outcome has a status."""

import asyncio
import errno
import json
import math
import secrets
import ssl
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import httpx2

from weighbeam.core.canonical import seeded_digest
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.records import Reply as Status
from weighbeam.network.address import ResolvedEndpoint, parse_own_address, resolve_endpoint
from weighbeam.network.bounded_transport import BoundedTransport, UnboundedHead
from weighbeam.network.keys import Hotkey
from weighbeam.network.nonces import NonceClock
from weighbeam.network.replies import bind_body, judge_content, judge_envelope, make_proof, verify_reply
from weighbeam.network.signing_dialects import DEFAULT_DIALECT, OutgoingRequest, find_dialect
from weighbeam.network.strict_json import MAX_NODES

MAX_REPLY_BYTES = 1 << 20
"""Default of a question."""
CONNECT_SECONDS = 3.0
OUR_ERRORS = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.ENOSPC)
QUEUE_DEADLINES = 2
QUEUE_SLACK_SECONDS = 10.0
"""Together the time in which a round's requests begin; each has its whole deadline after that."""


@dataclass(frozen=True, slots=True)
class Target:
    """A miner to ask, in the dialect chosen for it; `endpoint` None means it announced none."""

    hotkey: str
    endpoint: str | None
    dialect: str = DEFAULT_DIALECT


@dataclass(frozen=True, slots=True)
class MinerQuestion:
    """The question sent to every miner of a round."""

    round: str
    mechanism: str
    params_hash: str
    task: Mapping[str, Any]
    deadline_seconds: float
    seed: str | int
    max_reply_bytes: int = MAX_REPLY_BYTES
    max_reply_nodes: int = MAX_NODES


@dataclass(frozen=True, slots=True)
class MinerReply:
    """Outcome of asking one miner; `proof` is set if it signed its reply, even an invalid one."""

    hotkey: str
    status: Status
    reason: str | None
    seconds: float
    payload: Any = None
    proof: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class RawReply:
    """A reply as it came, not yet verified or parsed."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    digest: str
    nonce: str
    received: int
    seconds: float


@dataclass(frozen=True, slots=True)
class AskSettings:
    """Settings for asking miners.

    `require_signed`: an unsigned reply is refused, so a miner asked in a dialect without signed replies
    (`epistula/2`) can only be heard with False. A badly signed reply is refused either way.
    `own_address`: our own `ip:port`, which is never dialled.
    """

    parallel: int = 64
    per_address: int = 2
    allow_private: bool = False
    require_signed: bool = True
    own_address: str | None = None

    def __post_init__(self) -> None:
        if self.own_address is not None:
            parse_own_address(self.own_address)


@dataclass(slots=True)
class SocketStopwatch:
    """Measures from the first byte of the request to the last of the reply, as the transport reports them."""

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


class AddressQueue:
    """The hotkeys behind one address, of which a few are asked at a time."""

    def __init__(self, places: int) -> None:
        self.places = asyncio.Semaphore(places)
        self._seconds = 0.0
        self._running = 0

    @contextmanager
    def count_seconds(self) -> Iterator[None]:
        self._seconds -= time.monotonic()
        self._running += 1
        try:
            yield
        finally:
            self._seconds += time.monotonic()
            self._running -= 1

    @property
    def seconds(self) -> float:
        """For how long its hotkeys were being asked, added up; without waiting for anything of ours."""
        return self._seconds + self._running * time.monotonic()


def limit_queue(deadline_seconds: float, miners: int, parallel: int) -> float:
    """How long requests of a round may begin, in seconds. More miners than `parallel` have more time, since we make
    them wait.

    >>> limit_queue(20.0, 25, 64), limit_queue(20.0, 256, 64)
    (50.0, 110.0)
    """
    waits = max(0, math.ceil(miners / parallel) - 1)
    return (QUEUE_DEADLINES + waits) * deadline_seconds + QUEUE_SLACK_SECONDS


@dataclass(slots=True)
class Asker:
    """Asks on behalf of one hotkey."""

    hotkey: Hotkey
    settings: AskSettings = field(default_factory=AskSettings)
    clock: NonceClock = field(default_factory=NonceClock)

    async def ask_all(
        self,
        question: MinerQuestion,
        targets: Sequence[Target],
        watch: AbstractAsyncContextManager[object] | None = None,
    ) -> list[MinerReply]:
        """One reply per target, in the order given; asked in an order that only the seed decides.

        `watch` is entered while miners are being timed, and left before their replies are judged.
        """
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
        settings = self.settings
        slots = asyncio.Semaphore(settings.parallel)
        queues: defaultdict[str, AddressQueue] = defaultdict(lambda: AddressQueue(settings.per_address))
        order = sorted(range(len(targets)), key=lambda i: seeded_digest(question.seed, "ask", targets[i].hotkey))
        queue_seconds = limit_queue(question.deadline_seconds, len(targets), settings.parallel)
        closes = asyncio.get_running_loop().time() + queue_seconds
        heard: list[MinerReply | RawReply | None] = [None] * len(targets)

        async def one(position: int, client: httpx2.AsyncClient) -> None:
            target = targets[position]
            try:
                dialled = await self._dial(target)
            except WeighbeamError as refusal:
                blamed: Status = "validator_error" if refusal.code == "resolver_busy" else "unreachable"
                heard[position] = MinerReply(target.hotkey, blamed, refusal.code, 0.0)
                return
            queue = queues[dialled.address]
            try:
                async with asyncio.timeout_at(closes) as waiting, queue.places, slots:
                    waiting.reschedule(None)
                    with queue.count_seconds():
                        heard[position] = await self._ask(client, question, target, dialled, body)
            except TimeoutError:
                heard[position] = MinerReply(target.hotkey, self._blame_queue(question, queue), "queue", 0.0)

        transport = BoundedTransport(settings.parallel)
        async with (
            httpx2.AsyncClient(transport=transport, timeout=None, trust_env=False, follow_redirects=False) as client,
            watch or nullcontext(),
        ):
            await asyncio.gather(*(one(position, client) for position in order))
        replies = zip(targets, heard, strict=True)
        return await asyncio.to_thread(lambda: [self._judge_late(question, *both) for both in replies])

    def _blame_queue(self, question: MinerQuestion, queue: AddressQueue) -> Status:
        """Decide who is at fault if a miner was not asked in time: its address, if that used up its time."""
        had = queue.seconds >= self.settings.per_address * QUEUE_DEADLINES * question.deadline_seconds
        return "timeout" if had else "validator_error"

    async def _dial(self, target: Target) -> ResolvedEndpoint:
        if target.endpoint is None:
            raise WeighbeamError("no_endpoint")
        return await resolve_endpoint(target.endpoint, self.settings.allow_private, self.settings.own_address)

    async def _ask(
        self,
        client: httpx2.AsyncClient,
        question: MinerQuestion,
        target: Target,
        dialled: ResolvedEndpoint,
        body: bytes,
    ) -> "MinerReply | RawReply":
        watch = SocketStopwatch()
        status: Status
        reason: str | None
        try:
            async with asyncio.timeout(question.deadline_seconds):
                return await self._exchange(client, question, target, dialled, body, watch)
        except TimeoutError:
            status, reason = "timeout", None
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as fault:
            ours = _find_own_error(fault)
            status, reason = ("unreachable", "connect") if ours is None else ("validator_error", type(ours).__name__)
        except UnboundedHead:
            status, reason = "malformed", "headers"
        except httpx2.RemoteProtocolError:
            status, reason = "malformed", "protocol"
        except (httpx2.TransportError, ssl.SSLError):
            status, reason = ("unreachable", "connect") if watch.started is None else ("malformed", "cut")
        except OSError as fault:
            ours = _find_own_error(fault)
            status, reason = ("malformed", "cut") if ours is None else ("validator_error", type(ours).__name__)
        except WeighbeamError as fault:
            status, reason = "validator_error", fault.code
        except MemoryError:
            status, reason = "validator_error", "memory"
        except Exception as fault:
            status, reason = "malformed", type(fault).__name__
        return MinerReply(target.hotkey, status, reason, watch.seconds)

    async def _exchange(
        self,
        client: httpx2.AsyncClient,
        question: MinerQuestion,
        target: Target,
        dialled: ResolvedEndpoint,
        body: bytes,
        watch: SocketStopwatch,
    ) -> "MinerReply | RawReply":
        """One attempt, and a second one only if nothing had been sent."""
        try:
            return await self._send(client, question, target, dialled, body, watch)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            if watch.started is not None:
                raise
        return await self._send(client, question, target, dialled, body, watch)

    async def _send(
        self,
        client: httpx2.AsyncClient,
        question: MinerQuestion,
        target: Target,
        dialled: ResolvedEndpoint,
        body: bytes,
        watch: SocketStopwatch,
    ) -> "MinerReply | RawReply":
        """The reply as bytes. Nothing of it is parsed while others are still being timed, not even its chunks."""
        path = f"/weighbeam/1/{question.mechanism}/ask"
        nonce = self.clock.next()
        signed = find_dialect(target.dialect).sign(
            self.hotkey, OutgoingRequest("POST", path, body, nonce, target.hotkey)
        )
        headers = signed.headers | {
            "Content-Type": "application/json",
            "Accept-Encoding": "identity",
            "Host": f"{dialled.host}:{dialled.port}",
            "X-Weighbeam-Request": secrets.token_hex(8),
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
            if "transfer-encoding" in response.headers:
                return MinerReply(target.hotkey, "malformed", "length_required", watch.seconds)
            reply = await _fetch_capped(response, question.max_reply_bytes)
        finally:
            await response.aclose()
        if reply is None:
            return MinerReply(target.hotkey, "too_large", None, watch.seconds)
        raw = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw)
        return RawReply(response.status_code, raw, reply, signed.digest, nonce, time.time_ns(), watch.seconds)

    def _judge_late(self, question: MinerQuestion, target: Target, heard: "MinerReply | RawReply | None") -> MinerReply:
        """Judge a reply after the timed part of the round."""
        if not isinstance(heard, RawReply):
            return heard or MinerReply(target.hotkey, "validator_error", "not asked", 0.0)
        refused = judge_envelope(heard.status, heard.headers, heard.body)
        if refused is not None:
            return MinerReply(target.hotkey, *refused, heard.seconds)
        try:
            proof = self._prove(target, heard)
        except WeighbeamError as refusal:
            return MinerReply(target.hotkey, "malformed", refusal.code, heard.seconds)
        status, reason, payload = judge_content(heard.body, question.round, question.max_reply_nodes)
        if proof is not None and status == "ok":
            proof = bind_body(proof, heard.body, question.round, payload)
        return MinerReply(target.hotkey, status, reason, heard.seconds, payload, proof)

    def _prove(self, target: Target, heard: RawReply) -> dict[str, str] | None:
        """Proof that the miner asked has said this; None for an unsigned reply, if those are accepted."""
        asker, asked, headers = self.hotkey.address, target.hotkey, heard.headers
        try:
            scheme = verify_reply(
                headers, 200, heard.body, heard.digest, int(heard.nonce), asked, asker, heard.received
            )
        except WeighbeamError as refusal:
            if refusal.code == "unsigned_reply" and not self.settings.require_signed:
                return None
            raise
        return make_proof(headers, heard.body, heard.digest, scheme)


def _find_own_error(fault: BaseException | None) -> OSError | None:
    """The error in a chain of them by which our own machine refused: no file, buffer or memory was left."""
    seen: set[int] = set()
    while fault is not None and id(fault) not in seen:
        if isinstance(fault, OSError) and fault.errno in OUR_ERRORS:
            return fault
        seen.add(id(fault))
        fault = fault.__cause__ or fault.__context__
    return None


async def _fetch_capped(response: httpx2.Response, limit: int) -> bytes | None:
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_raw():
        size += len(part)
        if size > limit:
            return None
        parts.append(part)
    return b"".join(parts)
