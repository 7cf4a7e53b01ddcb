"""Connection limits enforced before authentication (spec § 5); the only module that knows the HTTP server."""

import asyncio
import ipaddress
import json
import re
import resource
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from weighbeam.core.errors import WeighbeamError

START_POLL_SECONDS = 0.01
TARGET = "target"
"""Where the app finds the raw target of a request, in its scope's state."""
STOPPING, CUT = "stopping", "cut"
"""And there, for replies that last: an event that is set once the server stops, and how to cut the connection off."""
RESERVED_FILES = 256
"""Left to the store, to miners that are asked and to everything else that opens files."""
MAX_CONNECTIONS = 1 << 16
ACCEPTED_AT_ONCE = 64
"""Each takes a file before it can be refused, so they are part of the reserve."""
BACKLOG = 2048
"""Connections that the kernel keeps until they are accepted."""
MAX_HEADER_LINES = 100
"""Parsing 3,000 headers of 5 bytes takes 50 ms, during which nothing else runs."""
MAX_TARGET_BYTES = 4096
BLANK_LINE = re.compile(rb"\n\r?\n")
MAX_PACED = 10_000
PER_SECOND = 50.0
PACED_SECONDS = 2.0
"""Time by which an address may exceed its rate."""
LOOPBACK = ("127.0.0.1", "::1", "local")
REFUSALS = {
    411: {
        "error": "length_required",
        "message": "Transfer-Encoding is not accepted",
        "remedy": "send the body with Content-Length",
    },
    429: {"error": "rate_limited", "message": "too many requests from this address", "remedy": "call less often"},
}
"""Replies to requests that are refused before they reach the app; any other is 400."""


@dataclass(frozen=True, slots=True)
class ListenSettings:
    """`per_address` limits open connections before authentication; `drain_seconds` is for tasks at the end.

    `per_second` is how many connections, or further requests on them, an address may begin, and twice as many at once.
    `connections` is how many may be open in all; None leaves 256 of the files that the process may open to others, or
    half of them if they are few. `shared` are addresses that many callers come from, such as a proxy on this machine:
    only the limit in all holds for them.
    """

    header_seconds: float = 10.0
    max_header_bytes: int = 16 << 10
    per_address: int = 20
    per_second: float = PER_SECOND
    connections: int | None = None
    drain_seconds: int = 5
    shared: tuple[str, ...] = LOOPBACK


class ServerConfig(uvicorn.Config):
    """The server's configuration, how many connections each address has open, and those that wait for a request, the
    longest waiting first.
    """

    def __init__(self, app: Any, settings: ListenSettings) -> None:
        super().__init__(
            app,
            http=ServerConnection,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            backlog=ACCEPTED_AT_ONCE,
            h11_max_incomplete_event_size=settings.max_header_bytes,
            timeout_graceful_shutdown=settings.drain_seconds,
        )
        self.settings = settings
        self.open: Counter[str] = Counter()
        self.waiting: dict[ServerConnection, None] = {}
        self.paces: dict[str, float] = {}
        self.room = limit_connections() if settings.connections is None else settings.connections
        self.stopping = asyncio.Event()

    def has_room(self, origin: str, connections: int) -> bool:
        """Whether another connection fits. A full server closes the one that has been idle longest."""
        strange = origin not in self.settings.shared
        if (strange and self.open[origin] >= self.settings.per_address) or not self.keeps_pace(origin):
            return False
        if connections < self.room:
            return True
        longest = next(iter(self.waiting), None)
        if longest is not None:
            longest.cut()
        return longest is not None

    def keeps_pace(self, origin: str) -> bool:
        """Whether an address may begin one more connection or request: each takes its share of a second."""
        if origin in self.settings.shared:
            return True
        now, share = time.monotonic(), 1 / self.settings.per_second
        if len(self.paces) > MAX_PACED:
            self.paces = {name: until for name, until in self.paces.items() if until > now}
        until = max(now, self.paces.get(origin, now)) + share
        if until > now + PACED_SECONDS:
            return False
        self.paces[origin] = until
        return True


class LengthRequired(h11.RemoteProtocolError):
    """The request has a Transfer-Encoding.

    One read can hold 43,000 chunks of one byte, and all of them are parsed before anybody else has a turn.
    """


class RequestParser(h11.Connection):
    """Keeps the target as it stood on the request line, where `/ask?` and `/ask` differ. Parses no chunks, and no
    request of too many headers or too long a target.
    """

    target = b""
    refusal = 400
    keeps_pace: Callable[[], bool]
    _requests = 0

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        if self.their_state is h11.IDLE:
            self._refuse_many_headers(self.trailing_data[0])
        event = super().next_event()
        if isinstance(event, h11.Request):
            self.target = event.target
            if len(event.target) > MAX_TARGET_BYTES:
                raise h11.RemoteProtocolError("the target is too long", error_status_hint=414)
            self._requests += 1
            if any(name == b"transfer-encoding" for name, _ in event.headers):
                self.refusal = 411
                raise LengthRequired("Transfer-Encoding is not accepted", error_status_hint=411)
            if self._requests > 1 and not self.keeps_pace():
                self.refusal = 429
                raise h11.RemoteProtocolError("too many requests", error_status_hint=429)
        return event

    def _refuse_many_headers(self, received: bytes) -> None:
        if received.count(b"\n") <= MAX_HEADER_LINES:
            return
        end = BLANK_LINE.search(received)
        if received.count(b"\n", 0, end.start() if end else len(received)) > MAX_HEADER_LINES:
            raise h11.RemoteProtocolError("too many headers", error_status_hint=431)


class ServerConnection(H11Protocol):
    """One connection: refused if its address has too many; cut if its headers are too slow or long, or if the server is
    full and it is idle.
    """

    def __init__(
        self,
        config: ServerConfig,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn = self._parser = RequestParser(h11.SERVER, config.settings.max_header_bytes)
        self._door = config
        self._origin: str | None = None
        self._header_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("a stream transport is needed")
        origin = name_origin(transport.get_extra_info("peername"))
        if not self._door.has_room(origin, len(self.connections)):
            transport.abort()
            return
        self._door.open[origin] += 1
        self._origin = origin
        self._parser.keeps_pace = partial(self._door.keeps_pace, origin)
        super().connection_made(transport)
        self._time_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._origin is None:
            return
        self._door.open[self._origin] -= 1
        if not self._door.open[self._origin]:
            del self._door.open[self._origin]
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.conn.their_state is h11.IDLE:
            room = self._door.settings.max_header_bytes + 1 - len(self.conn.trailing_data[0])
            head, data = data[:room], data[room:]
            super().data_received(head)
        if data and not self.transport.is_closing():
            super().data_received(data)
        self._time_headers()

    def handle_events(self) -> None:
        super().handle_events()
        if self.scope is not None:
            self.scope["state"].update(
                {TARGET: self._parser.target, STOPPING: self._door.stopping, CUT: self.transport.abort}
            )

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing():
            self._time_headers()

    def send_400_response(self, msg: str) -> None:
        """The reply to a request that never reaches the app, and the end of its connection."""
        status = HTTPStatus(self._parser.refusal)
        if status not in REFUSALS:
            super().send_400_response(msg)
            return
        told = json.dumps(REFUSALS[status]).encode()
        headers = [
            (b"Content-Type", b"application/json"),
            (b"Content-Length", b"%d" % len(told)),
            (b"Connection", b"close"),
        ]
        head = h11.Response(status_code=status, headers=headers, reason=status.phrase.encode())
        for event in (head, h11.Data(data=told), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _time_headers(self) -> None:
        """Limit the time for headers; single bytes do not extend it."""
        if self.conn.their_state is not h11.IDLE:
            self._stop_timer()
        elif self._header_timer is None:
            self._header_timer = self.loop.call_later(self._door.settings.header_seconds, self.transport.abort)
            self._door.waiting[self] = None

    def cut(self) -> None:
        """Close the connection and stop counting it."""
        self._stop_timer()
        self.connections.discard(self)
        self.transport.abort()

    def _stop_timer(self) -> None:
        self._door.waiting.pop(self, None)
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None


class EmbeddedServer(uvicorn.Server):
    """One of several servers in a process, so it leaves the process's signals alone."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def listen(
    app: Any, host: str, port: int = 0, settings: ListenSettings | None = None
) -> AsyncIterator[tuple[str, int]]:
    """Serve an app as long as the context lasts; gives the address and port it is bound to."""
    listener = bind(host, port)
    door = ServerConfig(app, settings or ListenSettings())
    server = EmbeddedServer(door)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started and not serving.done():
            await asyncio.sleep(START_POLL_SECONDS)
        if serving.done():
            await serving
        listener.listen(BACKLOG)
        yield listener.getsockname()[:2]
    finally:
        door.stopping.set()
        server.should_exit = True
        await serving


async def serve_miner(app: Any, host: str, port: int, settings: ListenSettings | None = None) -> None:
    """Serve a miner's app until cancelled."""
    async with listen(app, host, port, settings):
        await asyncio.Event().wait()


def check_listen(text: str) -> tuple[str, int]:
    """A `host:port` to serve on; port 0 is any that is free.

    >>> check_listen("127.0.0.1:8091"), check_listen("[::1]:0")
    (('127.0.0.1', 8091), ('::1', 0))
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise WeighbeamError("bad_config", f"{text!r} is not of the form host:port", "write one like 127.0.0.1:8091")
    return host.strip("[]"), int(port)


def format_url(host: str, port: int) -> str:
    """Where a browser of this machine finds what is served here.

    >>> format_url("0.0.0.0", 8080), format_url("::1", 80)
    ('http://127.0.0.1:8080', 'http://[::1]:80')
    """
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{local}]:{port}" if ":" in local else f"http://{local}:{port}"


def name_origin(peer: Any) -> str:
    """Key by which connections are counted: an IPv4 address, or an IPv6 host's /64 network.

    >>> name_origin(("192.0.2.1", 4)), name_origin(("::ffff:192.0.2.1", 4, 0, 0)), name_origin(("2001:db8::7", 4, 0, 0))
    ('192.0.2.1', '192.0.2.1', '2001:db8::/64')
    >>> name_origin(("::1", 4, 0, 0))
    '::1'
    """
    if not isinstance(peer, tuple):
        return "local"
    address = ipaddress.ip_address(str(peer[0]).partition("%")[0])
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    if address.is_loopback:
        return str(address)
    return str(ipaddress.ip_network((address, 64), strict=False))


def limit_connections() -> int:
    """How many connections a server may have open, so that the process can still open files of its own."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return min(MAX_CONNECTIONS, max(files - RESERVED_FILES, files // 2))


def bind(host: str, port: int) -> socket.socket:
    """Disable Nagle's algorithm: kept-alive connections then save 40 ms per reply."""
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as fault:
        raise WeighbeamError(
            "cannot_listen",
            f"{host}:{port}: {fault}",
            "give another address: miner.listen, validator.listen or service.listen",
        ) from None
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.setblocking(False)
    return listener
