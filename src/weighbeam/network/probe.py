"""Is it us? Our own network is probed when no miner could be reached, our own machine whenever miners are asked (spec
§ 3).
"""

import asyncio
import socket
import time
from collections import deque
from collections.abc import Sequence
from types import TracebackType

from weighbeam.core.errors import WeighbeamError
from weighbeam.network.address import EndpointAddress, parse_endpoint
from weighbeam.network.ask import OUR_ERRORS
from weighbeam.network.blame import Lateness


async def can_reach(targets: Sequence[str], seconds: float = 3.0) -> bool:
    """Whether any of these `host:port` accepts a connection in time; none given is none reached."""
    attempts = [asyncio.create_task(_connect(place)) for place in map(parse_probe, targets)]
    try:
        for attempt in asyncio.as_completed(attempts, timeout=seconds):
            if await attempt:
                return True
    except TimeoutError:
        return False
    finally:
        for task in attempts:
            task.cancel()
        await asyncio.gather(*attempts, return_exceptions=True)
    return False


def parse_probe(target: str) -> EndpointAddress:
    """A probe's host and port; a target that cannot be one is the operator's to correct, not a sign of trouble."""
    try:
        return parse_endpoint(target)
    except WeighbeamError:
        raise WeighbeamError("bad_probe", f"{target!r} cannot be probed", "write host:port") from None


async def _connect(place: EndpointAddress) -> bool:
    try:
        _, writer = await asyncio.open_connection(place.host, place.port)
    except (OSError, UnicodeError):
        return False
    writer.close()
    return True


BEAT_SECONDS = 0.05
COUNTED_SECONDS = 0.05
"""Shorter lags are the ordinary work of the loop and do not add up."""
PROBE_SECONDS = 2.0
"""A probe that takes longer, or that finds no file or memory left, counts as this."""
LOOPBACK = "127.0.0.1"


class LateWatch:
    """Measures how late this machine is while miners are timed: `async with` it around the asking.

    A heartbeat compares when it wakes with when it should have. A probe connects to ourselves over loopback and waits
    for an echo: at the start, every half deadline, and at the end.
    """

    def __init__(self, deadline_seconds: float) -> None:
        self._deadline = deadline_seconds
        self._due = 0.0
        self._lag = 0.0
        self._stalled = 0.0
        self._recent: deque[tuple[float, float]] = deque()
        self._probe: float | None = None
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def measured(self) -> Lateness:
        probe = None if self._probe is None else round(self._probe, 6)
        return Lateness(self._deadline, round(self._lag, 6), round(self._stalled, 6), probe)

    async def __aenter__(self) -> "LateWatch":
        self._due = time.monotonic()
        self._tasks = [asyncio.create_task(self._beat()), asyncio.create_task(self._keep_probing())]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._note_lag(time.monotonic() - self._due)
        if fault is None:
            await self._probe_once()

    async def _beat(self) -> None:
        while True:
            self._note_lag(time.monotonic() - self._due)
            self._due = time.monotonic() + BEAT_SECONDS
            await asyncio.sleep(BEAT_SECONDS)

    def _note_lag(self, lag: float) -> None:
        self._lag = max(self._lag, lag)
        if lag < COUNTED_SECONDS:
            return
        now = time.monotonic()
        self._recent.append((now, lag))
        while self._recent[0][0] < now - self._deadline:
            self._recent.popleft()
        self._stalled = max(self._stalled, sum(lag for _, lag in self._recent))

    async def _keep_probing(self) -> None:
        while True:
            await self._probe_once()
            await asyncio.sleep(self._deadline / 2)

    async def _probe_once(self) -> None:
        started = time.monotonic()
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await echo_once()
        except OSError as fault:
            if not isinstance(fault, TimeoutError) and fault.errno not in OUR_ERRORS:
                return
            taken = PROBE_SECONDS
        except asyncio.CancelledError:
            self._note_probe(time.monotonic() - started)
            raise
        else:
            taken = time.monotonic() - started
        self._note_probe(taken)

    def _note_probe(self, seconds: float) -> None:
        self._probe = max(self._probe or 0.0, seconds)


async def echo_once() -> None:
    """Connect to ourselves over loopback, send a byte and wait until it is back."""
    loop = asyncio.get_running_loop()
    with socket.create_server((LOOPBACK, 0)) as listener, socket.socket() as client:
        listener.setblocking(False)
        client.setblocking(False)
        await loop.sock_connect(client, listener.getsockname())
        while True:
            served, peer = await loop.sock_accept(listener)
            with served:
                if peer != client.getsockname():
                    continue
                await loop.sock_sendall(client, b"?")
                await loop.sock_sendall(served, await loop.sock_recv(served, 1))
                await loop.sock_recv(client, 1)
                return
