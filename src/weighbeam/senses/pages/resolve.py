"""Look page hosts up on threads of their own: a name server that hangs holds up neither miners nor the event loop."""

import asyncio
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

THREADS = 64
RESOLVERS = ThreadPoolExecutor(THREADS, "pages-resolve")


async def look_up(host: str, port: int) -> Sequence[str]:
    """The addresses of a host, in the system's order of preference, each once."""

    def ask_system() -> list[str]:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        return list(dict.fromkeys(str(entry[4][0]) for entry in found))

    return await asyncio.get_running_loop().run_in_executor(RESOLVERS, ask_system)
