"""The guard: connections only to addresses that were checked, are public, and are still the peer.

A name is looked up once. One address that is not public condemns it, since the name's server could
have the other one used next time. The connection is made to the address, so there is no second look-up to lie to.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field

import httpx2

from weighbeam.core.addresses import is_public
from weighbeam.senses.adapters.pages.outcome import PageUnreachable, ReadRefused
from weighbeam.senses.adapters.pages.web.url import PORT

THREADS = 64
RESOLVERS = ThreadPoolExecutor(THREADS, "pages-resolve")


async def look_up_host(host: str, port: int) -> Sequence[str]:
    """The addresses of a host, in the system's order of preference, each once."""

    def ask_system() -> list[str]:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        return list(dict.fromkeys(str(entry[4][0]) for entry in found))

    return await asyncio.get_running_loop().run_in_executor(RESOLVERS, ask_system)


MAX_ADDRESSES = 64
MAX_TRIED = 3
STREAM_BYTES = 64 << 10

ResolveHost = Callable[[str, int], Awaitable[Sequence[str]]]
ConnectTo = Callable[[str, int], Awaitable[socket.socket]]


@dataclass(frozen=True, slots=True)
class GuardedConnection:
    """An open connection to a checked address."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    address: str

    def hang_up(self) -> None:
        self.writer.transport.abort()


def trust_system() -> ssl.SSLContext:
    """The system's certificates, whatever the environment says."""
    return httpx2.create_ssl_context(trust_env=False)


async def dial(address: str, port: int, source: str | None = None) -> socket.socket:
    """A connected socket. `address` is an IP address, so nothing is looked up; `source` is one of our own."""
    family = socket.AF_INET6 if ipaddress.ip_address(address).version == 6 else socket.AF_INET
    line = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        line.setblocking(False)
        if source is not None:
            line.bind((source, 0))
        await asyncio.get_running_loop().sock_connect(line, (address, port))
    except BaseException:
        line.close()
        raise
    return line


@dataclass(frozen=True, slots=True)
class ConnectionGuard:
    """Opens lines. `also_allowed` names addresses that may be dialled although they are not public: for tests."""

    resolve: ResolveHost = look_up_host
    connect: ConnectTo = dial
    context: ssl.SSLContext = field(default_factory=trust_system)
    also_allowed: frozenset[str] = frozenset()

    async def open(self, host: str, seconds: float) -> GuardedConnection:
        """A line to a host within `seconds`; `ReadRefused` or `PageUnreachable` if there is none."""
        try:
            async with asyncio.timeout(seconds):
                return await self._reach(host, await self.check(host), asyncio.get_running_loop().time() + seconds)
        except TimeoutError:
            raise PageUnreachable("connect_timeout") from None

    async def check(self, host: str) -> list[str]:
        """The addresses of a host, all of them allowed."""
        try:
            found = list(await self.resolve(host, PORT))
        except (OSError, UnicodeError):
            raise PageUnreachable("name") from None
        if not found:
            raise PageUnreachable("name")
        if len(found) > MAX_ADDRESSES or not all(map(self.allows, found)):
            raise ReadRefused("address")
        return [str(ipaddress.ip_address(address)) for address in found]

    def allows(self, address: str) -> bool:
        return address in self.also_allowed or is_public(address)

    async def _reach(self, host: str, addresses: Sequence[str], end: float) -> GuardedConnection:
        tried = addresses[:MAX_TRIED]
        for place, address in enumerate(tried):
            share = (end - asyncio.get_running_loop().time()) / (len(tried) - place)
            try:
                async with asyncio.timeout(share):
                    line = await self.connect(address, PORT)
            except (OSError, TimeoutError):
                continue
            return await self._secure(host, address, line)
        raise PageUnreachable("connect")

    async def _secure(self, host: str, address: str, line: socket.socket) -> GuardedConnection:
        try:
            if line.getpeername()[0] != address:
                raise ReadRefused("peer")
        except (OSError, ReadRefused) as end:
            line.close()
            raise end if isinstance(end, ReadRefused) else PageUnreachable("connect") from None
        try:
            reader, writer = await asyncio.open_connection(
                sock=line, ssl=self.context, server_hostname=host, limit=STREAM_BYTES
            )
        except ssl.SSLError:
            raise PageUnreachable("tls") from None
        except OSError:
            raise PageUnreachable("connect") from None
        except BaseException:
            _close_connection(line)
            raise
        return GuardedConnection(reader, writer, address)


def _close_connection(line: socket.socket) -> None:
    """End a line that a transport has. The transport closes it: closed here, its number would be another's too soon."""
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
