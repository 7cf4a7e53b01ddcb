"""Real TLS servers on loopback under test names, and a guard told to allow exactly their address."""

import asyncio
import ssl
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from socket import socket

import trustme

from network.loopback import run_server
from weighbeam.senses.adapters.pages.limits import PageLimits
from weighbeam.senses.adapters.pages.live import LivePages, LiveSettings
from weighbeam.senses.adapters.pages.parsing.parsers import ParserPool
from weighbeam.senses.adapters.pages.web.guard import ConnectionGuard, dial

LOOPBACK = "127.0.0.1"
PATIENT = PageLimits(read_seconds=10.0, connect_seconds=5.0, host_gap_seconds=0.0, per_domain=20)
"""For who meets nobody that dawdles: a busy machine may take its time."""
QUICK = replace(PATIENT, read_seconds=2.0, connect_seconds=1.2)
AUTHORITY = trustme.CA()
CERTIFICATE = AUTHORITY.issue_cert("*.example.org", "example.org", "*.example.net")

Talk = Callable[["Request", asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Request:
    """What a client sent: header names in lower case."""

    target: str
    headers: dict[str, str]

    @property
    def host(self) -> str:
        return self.headers["host"]


@dataclass
class Site:
    """One server for all test names. `paths` says how a path is answered; `requests` what was asked."""

    paths: dict[str, Talk] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            pairs = (line.split(": ", 1) for line in head[1:] if line)
            request = Request(head[0].split(" ")[1], {name.lower(): value for name, value in pairs})
            self.requests.append(request)
            await self.paths.get(request.target.partition("?")[0], missing)(request, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()


async def missing(_: Request, writer: asyncio.StreamWriter) -> None:
    await say(writer, 404, b"no such page")


async def say(writer: asyncio.StreamWriter, status: int, body: bytes, *headers: str) -> None:
    kinds = () if any(header.lower().startswith("content-type") for header in headers) else ("Content-Type: text/html",)
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", *kinds, *headers, "", ""]
    writer.write("\r\n".join(lines).encode() + body)
    await writer.drain()


def page(body: bytes | str, *headers: str, status: int = 200) -> Talk:
    content = body.encode() if isinstance(body, str) else body

    async def talk(_: Request, writer: asyncio.StreamWriter) -> None:
        await say(writer, status, content, *headers)

    return talk


def redirect(location: str, status: int = 302, *headers: str) -> Talk:
    return page(b"", f"Location: {location}", *headers, status=status)


@contextmanager
def serve_site(paths: dict[str, Talk], certificate: trustme.LeafCert = CERTIFICATE) -> Iterator[Site]:
    site = Site(paths)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    certificate.configure_cert(context)

    @asynccontextmanager
    async def open_server():
        server = await asyncio.start_server(site.serve, LOOPBACK, 0, ssl=context)
        yield server.sockets[0].getsockname()[1]
        server.close()

    with run_server(open_server) as endpoint:
        site.port = int(endpoint.rpartition(":")[2])
        yield site


@dataclass
class Network:
    """Names that resolve as written, and connections that are counted. Port 443 of loopback is the site's."""

    port: int
    names: dict[str, list[str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    dialled: list[str] = field(default_factory=list)

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.names.get(host, [LOOPBACK])

    async def connect(self, address: str, port: int) -> socket:
        self.dialled.append(address)
        return await dial(address, self.port)

    def guard(self, allowed: Sequence[str] = (LOOPBACK,)) -> ConnectionGuard:
        context = ssl.create_default_context()
        AUTHORITY.configure_trust(context)
        return ConnectionGuard(self.resolve, self.connect, context, frozenset(allowed))


@contextmanager
def reading(network: Network, parsers: ParserPool, limits: PageLimits = PATIENT, **settings) -> Iterator[LivePages]:
    """A live reader over that network, which leaves the parsers running."""
    own = {"probe_urls": (), **settings}
    keep = own.pop("keep", None)
    guard = own.pop("guard", None) or network.guard()
    pages = LivePages(LiveSettings(limits=limits, **own), guard, parsers, keep)
    try:
        yield pages
    finally:
        pages._loop.close()
        pages._threads.shutdown()


@dataclass
class Watch:
    """Every address a socket of this process was told to connect to, and every name looked up, while it watches."""

    connected: list[object] = field(default_factory=list)
    looked_up: list[object] = field(default_factory=list)


_watching: list[Watch] = []


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if not _watching:
        return
    if event == "socket.connect":
        _watching[-1].connected.append(arguments[1])
    elif event == "socket.getaddrinfo":
        _watching[-1].looked_up.append(arguments[0])


sys.addaudithook(_hear)


@contextmanager
def watching_sockets() -> Iterator[Watch]:
    watch = Watch()
    _watching.append(watch)
    try:
        yield watch
    finally:
        _watching.remove(watch)
