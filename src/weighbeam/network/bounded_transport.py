"""The HTTP transport miners are asked with: what precedes a reply is bounded (spec § 3).

The client's parser handles everything that one read brought before anybody else has a turn. So a miner that sends
thousands of interim replies, or headers without end, would add to the seconds measured for its rivals.
"""

import re
import ssl
from collections.abc import Iterable
from functools import cache
from typing import Any

import httpcore2
import httpx2

MAX_HEAD_BYTES = 16 << 10
"""Of a reply's status line and headers, those of interim replies included."""
MAX_INTERIM = 4
MAX_HEADER_LINES = 100
"""Of one head: parsing thousands takes tens of milliseconds."""
BLANK_LINE = re.compile(rb"\n\r?\n")
"""Ends a head, for the client's parser too."""
STATUS_AT = len("HTTP/1.1 ")


class UnboundedHead(Exception):
    """A reply has more interim replies or header bytes than are read."""


class ReplyHead:
    """Follows the bytes of a connection up to the end of its first reply's headers.

    >>> head = ReplyHead()
    >>> head.feed(b"HTTP/1.1 103 Early Hints\\r\\n\\r\\nHTTP/1.1 200 OK\\r\\n")
    >>> head.is_complete
    False
    >>> head.feed(b"Content-Length: 2\\r\\n\\r\\n{}")
    >>> head.is_complete
    True
    """

    def __init__(self) -> None:
        self.is_complete = False
        self._seen = bytearray()
        self._start = 0
        self._interim = 0

    def feed(self, data: bytes) -> None:
        """Feed the next bytes; `UnboundedHead` if they are too many."""
        searched = max(self._start, len(self._seen) - 2)
        self._seen += data
        while not self.is_complete:
            end = BLANK_LINE.search(self._seen, searched)
            self._refuse_if((len(self._seen) if end is None else end.end()) > MAX_HEAD_BYTES)
            if end is None:
                return
            self.is_complete = self._seen[self._start + STATUS_AT : self._start + STATUS_AT + 1] != b"1"
            self._refuse_if(self._seen.count(b"\n", self._start, end.end()) > MAX_HEADER_LINES)
            self._interim += not self.is_complete
            self._refuse_if(self._interim > MAX_INTERIM)
            self._start = searched = end.end()
        self._seen.clear()

    def _refuse_if(self, unbounded: bool) -> None:
        if unbounded:
            raise UnboundedHead("too many interim replies, headers or bytes of headers")


class BoundedStream(httpcore2.AsyncNetworkStream):
    """A connection for one request, whose reply's head is bounded."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream) -> None:
        self._stream = stream
        self._head = ReplyHead()

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = await self._stream.read(max_bytes, timeout)
        if not self._head.is_complete:
            self._head.feed(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        return BoundedStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class BoundedBackend(httpcore2.AnyIOBackend):
    """Connects like the client's default backend."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        return BoundedStream(await super().connect_tcp(host, port, timeout, local_address, socket_options))


class BoundedTransport(httpx2.AsyncHTTPTransport):
    """One connection per request, never reused; certificates are checked as by default."""

    def __init__(self, max_connections: int) -> None:
        context = _load_certificates()
        super().__init__(verify=context)
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=context,
            max_connections=max_connections,
            max_keepalive_connections=0,
            network_backend=BoundedBackend(),
        )


@cache
def _load_certificates() -> ssl.SSLContext:
    """Load certificates once, so that a process without free files can still ask."""
    return httpx2.create_ssl_context(trust_env=False)
