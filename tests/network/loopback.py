"""Real servers on loopback for the network tests: a miner's, and ones that misbehave on purpose."""

import asyncio
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from weighbeam.network.dialects.btauth import Btauth
from weighbeam.network.dialects.contract import Dialect
from weighbeam.network.keys import Hotkey
from weighbeam.network.nonces import NonceStore
from weighbeam.network.policy import Policy, PolicySettings, Standing
from weighbeam.network.serve import Handler, make_miner_app

ALICE, BOB, CHARLIE = (Hotkey.from_uri(f"//{name}") for name in ("Alice", "Bob", "Charlie"))


@contextmanager
def serve_app(app: Any) -> Iterator[str]:
    """Run an app; gives its endpoint."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)


@contextmanager
def serve_miner(
    handler: Handler,
    folder: Path,
    hotkey: Hotkey = BOB,
    settings: PolicySettings | None = None,
    known: bool = True,
    dialects: Sequence[Dialect] = (Btauth(),),
) -> Iterator[str]:
    """A miner that knows Alice as a validator."""
    policy = Policy(settings or PolicySettings())
    if known:
        policy.update({ALICE.address: Standing(True, 10**12), CHARLIE.address: Standing(False, 10**12)})
    nonces = open_nonces(folder / "nonces.sqlite")
    with serve_app(make_miner_app(hotkey, {"chunking": handler}, nonces, policy, dialects=dialects)) as endpoint:
        yield endpoint
    nonces.close()


def open_nonces(path: Path) -> NonceStore:
    """A store that has been up for a while, so that it no longer refuses what it cannot know."""
    return NonceStore(path, now=lambda: time.time_ns() - 3_000_000_000)


@contextmanager
def serve_raw(talk: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]) -> Iterator[str]:
    """A TCP server that says whatever `talk` says."""
    ready = threading.Event()
    where: dict[str, Any] = {}

    async def guarded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talk(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(guarded, "127.0.0.1", 0)
        where["port"] = server.sockets[0].getsockname()[1]
        where["stop"] = asyncio.Event()
        where["loop"] = asyncio.get_running_loop()
        ready.set()
        await where["stop"].wait()
        server.close()

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    ready.wait(10)
    try:
        yield f"127.0.0.1:{where['port']}"
    finally:
        where["loop"].call_soon_threadsafe(where["stop"].set)
        thread.join(10)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
