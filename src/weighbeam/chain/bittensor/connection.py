"""One long-lived connection: opened when needed, dropped on trouble, every call held to a deadline."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Literal, TypeVar
from weakref import WeakKeyDictionary

from weighbeam.chain.bittensor.faults import make_fault, map_raised
from weighbeam.chain.bittensor.limits import Limits
from weighbeam.chain.contract import ChainFault

T = TypeVar("T")
Level = Literal["info", "warning", "critical"]
Tell = Callable[[str, Level, str], None]
SESSION = "rpc-session"
_GATES: "WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Lock]]" = WeakKeyDictionary()


def find_gate(name: str) -> asyncio.Lock:
    """A lock shared by everybody in this event loop who names it."""
    return _GATES.setdefault(asyncio.get_running_loop(), {}).setdefault(name, asyncio.Lock())


class Connection:
    """A client of the SDK that mends itself. `tell` gets code, level and text of what an operator should know."""

    def __init__(self, make_client: Callable[[], Any], limits: Limits, tell: Tell) -> None:
        self._make_client = make_client
        self._limits = limits
        self._tell = tell
        self._client: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._newest = -1
        self._newest_at = 0.0
        self._told: set[str] = set()
        self.spec_version: int | None = None

    async def read(self, call: Callable[[Any], Awaitable[T]]) -> T:
        """A read within its limit. The SDK sends one again after a dropped connection, which is harmless."""
        client = await self.open()
        return await self.hold(call(client), self._limits.read)

    async def hold(self, work: Awaitable[T], seconds: float, sent: Callable[[], bool] = lambda: False) -> T:
        """The work's result, or one fault; after a fault of the connection it is made anew."""
        try:
            async with asyncio.timeout(seconds):
                result = await work
        except ChainFault:
            raise
        except TimeoutError:
            await self.drop()
            if sent():
                raise make_fault("outcome_unknown", f"no word within {seconds:g} s", "unknown") from None
            raise make_fault("timeout", f"no answer within {seconds:g} s") from None
        except Exception as error:
            fault = map_raised(error, self.spec_version, sent())
            if fault.code in ("unreachable", "endpoint_refused", "runtime_mismatch", "outcome_unknown"):
                await self.drop()
            self._report(fault)
            raise fault from None
        self._told.discard("runtime_mismatch")
        return result

    async def open(self) -> Any:
        """The client, connected; a runtime that changed since the last one is told."""
        if self._client is not None and self._loop is not asyncio.get_running_loop():
            self._client = None
        if self._client is None:
            async with find_gate("open"):
                if self._client is None:
                    self._client = await self._connect()
                    self._loop = asyncio.get_running_loop()
        return self._client

    async def _connect(self) -> Any:
        client, before = self._make_client(), asyncio.all_tasks()
        try:
            await self.hold(client.connect(), self._limits.connect)
            self._note_runtime(await self.hold(client.spec_version(), self._limits.read))
        except BaseException:
            await self._close(client)
            await _end_strays(before)
            raise
        return client

    def _note_runtime(self, found: int) -> None:
        before, self.spec_version = self.spec_version, found
        if before not in (None, found):
            self._tell("runtime_changed", "warning", f"the chain's runtime went from {before} to {found}")

    async def renew(self, client: Any) -> Any:
        """This client, or a fresh one if the runtime is no longer the one it was made for."""
        if await client.spec_version() == self.spec_version:
            return client
        await self.drop()
        return await self.open()

    async def note_block(self, block: int) -> int:
        """The newest block ever seen; `stalled` if none has come for too long."""
        now = time.monotonic()
        if block > self._newest:
            self._newest, self._newest_at = block, now
            self._told.discard("stalled")
        elif now - self._newest_at > self._limits.stall:
            await self.drop()
            fault = make_fault("stalled", f"no block after {self._newest} for {now - self._newest_at:.0f} s")
            self._report(fault)
            raise fault
        return self._newest

    def _report(self, fault: ChainFault) -> None:
        """Once per trouble; one that is no more than a line for the ledger is not told here."""
        levels: dict[str, Level] = {"runtime_mismatch": "critical", "stalled": "warning"}
        if fault.code in levels and fault.code not in self._told:
            self._told.add(fault.code)
            self._tell(fault.code, levels[fault.code], fault.message)

    async def drop(self) -> None:
        """Forget this client; the next call makes another."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await self._close(client)

    async def _close(self, client: Any) -> None:
        with suppress(Exception):
            async with asyncio.timeout(self._limits.close):
                await client.close()


async def _end_strays(before: set[asyncio.Task[Any]]) -> None:
    """A connect that is cut short leaves the SDK's session behind, with its socket: end it."""
    strays = [task for task in asyncio.all_tasks() - before if task.get_name() == SESSION]
    for task in strays:
        task.cancel()
    await asyncio.gather(*strays, return_exceptions=True)
