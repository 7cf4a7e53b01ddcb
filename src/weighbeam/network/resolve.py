"""Look names up on threads of their own, so that a name server that hangs holds up nobody but those it serves."""

import asyncio
import ipaddress
import socket
from concurrent.futures import ThreadPoolExecutor

from weighbeam.core.errors import WeighbeamError

THREADS = 32
RESOLVERS = ThreadPoolExecutor(THREADS, "resolve")


async def look_up(host: str, port: int, seconds: float) -> list[str]:
    """The addresses of a host. An address is itself; a look-up that never began is our own fault: `resolver_busy`.

    >>> asyncio.run(look_up("192.0.2.1", 80, 1.0))
    ['192.0.2.1']
    """
    try:
        return [str(ipaddress.ip_address(host.partition("%")[0]))]
    except ValueError:
        pass
    begun: list[bool] = []

    def ask_system() -> list[str]:
        begun.append(True)
        return [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]

    asked = asyncio.get_running_loop().run_in_executor(RESOLVERS, ask_system)
    try:
        async with asyncio.timeout(seconds):
            return await asked
    except TimeoutError:
        if begun:
            raise
        raise WeighbeamError(
            "resolver_busy", f"{host!r} waited too long for our resolver", "check our resolver"
        ) from None
