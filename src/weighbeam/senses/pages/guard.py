"""The guard: no connection but to an address that was checked, is public, and is still the one at the other end.

A name is looked up once. One address that is not public condemns it, since whoever answers for the name could
have the other one used next time. The connection is made to the address, so there is no second look-up to lie to.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import httpx2

from weighbeam.core.addresses import is_public
from weighbeam.senses.pages.ends import Refused, Unreachable
from weighbeam.senses.pages.place import PORT
from weighbeam.senses.pages.resolve import look_up

MOST_ADDRESSES = 64
MOST_TRIED = 3
STREAM_BYTES = 64 << 10

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
Connect = Callable[[str, int], Awaitable[socket.socket]]


@dataclass(frozen=True, slots=True)
class Line:
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
class Guard:
    """Opens lines. `also_allowed` names addresses that may be dialled although they are not public: for tests."""

    resolve: Resolve = look_up
    connect: Connect = dial
    context: ssl.SSLContext = field(default_factory=trust_system)
    also_allowed: frozenset[str] = frozenset()

    async def open(self, host: str, seconds: float) -> Line:
        """A line to a host within `seconds`; `Refused` or `Unreachable` if there is none."""
        try:
            async with asyncio.timeout(seconds):
                return await self._reach(host, await self.check(host), asyncio.get_running_loop().time() + seconds)
        except TimeoutError:
            raise Unreachable("connect_timeout") from None

    async def check(self, host: str) -> list[str]:
        """The addresses of a host, all of them allowed."""
        try:
            found = list(await self.resolve(host, PORT))
        except (OSError, UnicodeError):
            raise Unreachable("name") from None
        if not found:
            raise Unreachable("name")
        if len(found) > MOST_ADDRESSES or not all(map(self.allows, found)):
            raise Refused("address")
        return [str(ipaddress.ip_address(address)) for address in found]

    def allows(self, address: str) -> bool:
        return address in self.also_allowed or is_public(address)

    async def _reach(self, host: str, addresses: Sequence[str], end: float) -> Line:
        tried = addresses[:MOST_TRIED]
        for place, address in enumerate(tried):
            share = (end - asyncio.get_running_loop().time()) / (len(tried) - place)
            try:
                async with asyncio.timeout(share):
                    line = await self.connect(address, PORT)
            except (OSError, TimeoutError):
                continue
            return await self._secure(host, address, line)
        raise Unreachable("connect")

    async def _secure(self, host: str, address: str, line: socket.socket) -> Line:
        try:
            if line.getpeername()[0] != address:
                raise Refused("peer")
        except (OSError, Refused) as end:
            line.close()
            raise end if isinstance(end, Refused) else Unreachable("connect") from None
        try:
            reader, writer = await asyncio.open_connection(
                sock=line, ssl=self.context, server_hostname=host, limit=STREAM_BYTES
            )
        except ssl.SSLError:
            raise Unreachable("tls") from None
        except OSError:
            raise Unreachable("connect") from None
        except BaseException:
            _cut(line)
            raise
        return Line(reader, writer, address)


def _cut(line: socket.socket) -> None:
    """End a line that a transport has. The transport closes it: closed here, its number would be another's too soon."""
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
