"""Real servers on loopback for the network tests: a miner's, and ones that misbehave on purpose."""

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from weighbeam.network.http_server import ListenSettings, listen
from weighbeam.network.keys import Hotkey
from weighbeam.network.miner_app import Handler, make_miner_app
from weighbeam.network.nonces import NonceStore
from weighbeam.network.policy import PolicySettings, SenderPolicy, SenderStanding
from weighbeam.network.signing_dialects import Btauth, Dialect

ALICE, BOB, CHARLIE = (Hotkey.from_uri(f"//{name}") for name in ("Alice", "Bob", "Charlie"))


ROOMY = ListenSettings(per_address=1000)


@contextmanager
def serve_app(app: Any, limits: ListenSettings = ROOMY) -> Iterator[str]:
    """Run an app; gives its endpoint."""

    @asynccontextmanager
    async def open_server() -> AsyncIterator[int]:
        async with listen(app, "127.0.0.1", 0, limits) as (_, port):
            yield port

    with run_server(open_server) as endpoint:
        yield endpoint


@contextmanager
def run_server(open_server: Callable[[], AbstractAsyncContextManager[int]]) -> Iterator[str]:
    """Keep a server open in a thread with an event loop of its own; gives its endpoint."""
    ready = threading.Event()
    where: dict[str, Any] = {}

    async def main() -> None:
        where["stop"], where["loop"] = asyncio.Event(), asyncio.get_running_loop()
        async with open_server() as where["port"]:
            ready.set()
            await where["stop"].wait()

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    assert ready.wait(60), "the server did not start"
    try:
        yield f"127.0.0.1:{where['port']}"
    finally:
        where["loop"].call_soon_threadsafe(where["stop"].set)
        thread.join(10)


@contextmanager
def serve_miner(
    handler: Handler,
    folder: Path,
    hotkey: Hotkey = BOB,
    settings: PolicySettings | None = None,
    known: bool = True,
    dialects: Sequence[Dialect] = (Btauth(),),
    limits: ListenSettings = ROOMY,
    max_bytes: int = 8 << 20,
) -> Iterator[str]:
    """A miner that knows Alice as a validator."""
    policy = SenderPolicy(settings or PolicySettings())
    if known:
        policy.update({ALICE.address: SenderStanding(True, 10**12), CHARLIE.address: SenderStanding(False, 10**12)})
    nonces = open_nonces(folder / "nonces.sqlite")
    caps = {"chunking": max_bytes}
    app = make_miner_app(hotkey, {"chunking": handler}, nonces, policy, dialects=dialects, max_bytes=caps)
    with serve_app(app, limits) as endpoint:
        yield endpoint
    nonces.close()


def open_nonces(path: Path) -> NonceStore:
    """A store that has been up for a while, so that it no longer refuses what it cannot know."""
    return NonceStore(path, now=lambda: time.time_ns() - 3_000_000_000)


@contextmanager
def serve_raw(talk: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]) -> Iterator[str]:
    """A TCP server that says whatever `talk` says."""

    async def guarded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talk(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    @asynccontextmanager
    async def open_server() -> AsyncIterator[int]:
        server = await asyncio.start_server(guarded, "127.0.0.1", 0)
        yield server.sockets[0].getsockname()[1]
        server.close()

    with run_server(open_server) as endpoint:
        yield endpoint


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
