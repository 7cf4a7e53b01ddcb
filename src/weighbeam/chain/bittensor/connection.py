"""One long-lived connection: opened when needed, dropped on trouble, every call held to a deadline."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Literal, TypeVar
from weakref import WeakKeyDictionary

from weighbeam.chain.bittensor.faults import make_fault, map_raised
from weighbeam.chain.contract import ChainFault


@dataclass(slots=True)
class CallTimeouts:
    """Seconds. The SDK's own limit does not cover subscriptions, so every call is held to these."""

    connect: float = 20.0
    read: float = 30.0
    submit: float = 120.0
    stall: float = 120.0
    close: float = 5.0


T = TypeVar("T")
Level = Literal["info", "warning", "critical"]
Tell = Callable[[str, Level, str], None]
LEVELS: dict[str, Level] = {"runtime_mismatch": "critical", "stalled": "warning"}
BROKEN = ("unreachable", "endpoint_refused", "runtime_mismatch", "outcome_unknown")
_GATES: "WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Lock]]" = WeakKeyDictionary()


def find_gate(name: str) -> asyncio.Lock:
    """A lock shared by everybody in this event loop who names it."""
    return _GATES.setdefault(asyncio.get_running_loop(), {}).setdefault(name, asyncio.Lock())


class SdkConnection:
    """A client of the SDK that reconnects by itself. `tell` receives code, level and text of alerts.

    What is late is left behind, not waited for: the SDK cleans up after a cancelled call by asking the node once more,
    and a node that does not answer would hold us as long as it likes.
    """

    def __init__(
        self,
        make_client: Callable[[], Any],
        limits: CallTimeouts,
        tell: Tell,
        on_stall: Callable[[], None] = lambda: None,
    ) -> None:
        self._make_client = make_client
        self._limits = limits
        self._tell = tell
        self._on_stall = on_stall
        self._client: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._left: set[asyncio.Future[Any]] = set()
        self._newest = -1
        self._newest_at = 0.0
        self._told: set[str] = set()
        self.spec_version: int | None = None

    async def read(self, call: Callable[[Any], Coroutine[Any, Any, T]]) -> T:
        """A read within its limit. The SDK sends one again after a dropped connection, which is harmless."""
        client = await self.open()
        return await self.hold(client, call(client), self._limits.read)

    async def hold(
        self, client: Any, work: Coroutine[Any, Any, T], seconds: float, sent: Callable[[], bool] = lambda: False
    ) -> T:
        """The work's result, or one fault; after a fault of the connection the client is not used again."""
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait({task}, timeout=seconds)
        finally:
            if not task.done():
                self._leave(task)
                task.cancel()
        if not task.done() or task.cancelled():
            await self.drop(client)
            when = "before the call was given up" if task.cancelled() else f"within {seconds:g} s"
            if sent():
                raise make_fault("outcome_unknown", f"no word {when}", "unknown")
            raise make_fault("timeout", f"no answer {when}")
        try:
            return task.result()
        except ChainFault:
            raise
        except Exception as error:
            fault = map_raised(error, self.spec_version, sent())
        if fault.code in BROKEN:
            await self.drop(client)
        self._report(fault)
        raise fault

    async def open(self) -> Any:
        """The client, connected."""
        if self._loop is not asyncio.get_running_loop():
            self._client, self._loop = None, asyncio.get_running_loop()
        if self._client is None:
            async with find_gate("open"):
                if self._client is None:
                    self._client = await self._connect()
        return self._client

    async def _connect(self) -> Any:
        """A new client. A late one continues alone until the SDK gives up or it is ready, and is closed then:
        cut short it would leave its socket behind."""
        client = self._make_client()
        task = asyncio.ensure_future(client.connect())
        try:
            await asyncio.wait({task}, timeout=self._limits.connect)
        finally:
            if not task.done():
                task.add_done_callback(lambda _: self._leave(asyncio.ensure_future(client.close())))
                self._leave(task)
        if not task.done():
            raise make_fault("timeout", f"no connection within {self._limits.connect:g} s")
        try:
            await self.hold(client, _result(task), self._limits.read)
            self._note_runtime(await self.hold(client, client.spec_version(), self._limits.read))
        except BaseException:
            self._leave(asyncio.ensure_future(client.close()))
            raise
        return client

    def _note_runtime(self, found: int) -> None:
        before, self.spec_version = self.spec_version, found
        if before not in (None, found):
            self._told.discard("runtime_mismatch")
            self._tell("runtime_changed", "warning", f"the chain's runtime changed from {before} to {found}")

    async def renew(self, client: Any) -> Any:
        """This client, or a fresh one if the runtime is no longer the one it was made for."""
        if await client.spec_version() == self.spec_version:
            return client
        await self.drop(client)
        return await self.open()

    async def note_block(self, client: Any, block: int) -> int:
        """The newest block ever seen; `stalled` if none has come for too long, and then this client is left, once."""
        now = time.monotonic()
        if block > self._newest:
            self._newest, self._newest_at = block, now
            self._told.discard("stalled")
        elif now - self._newest_at > self._limits.stall:
            if client is self._client:
                self._on_stall()
            await self.drop(client)
            fault = make_fault("stalled", f"no block after {self._newest} for {now - self._newest_at:.0f} s")
            self._report(fault)
            raise fault
        return self._newest

    def _report(self, fault: ChainFault) -> None:
        """Report each fault once; faults that only the ledger records are left out."""
        if fault.code in LEVELS and fault.code not in self._told:
            self._told.add(fault.code)
            self._tell(fault.code, LEVELS[fault.code], fault.message)

    async def drop(self, client: Any) -> None:
        """Do not use this client again; if it was ours, the next call makes another."""
        if client is None:
            return
        if client is self._client:
            self._client = None
        closing = asyncio.ensure_future(client.close())
        self._leave(closing)
        await asyncio.wait({closing}, timeout=self._limits.close)

    async def close(self) -> None:
        if self._loop is asyncio.get_running_loop():
            await self.drop(self._client)

    def _leave(self, task: "asyncio.Future[Any]") -> None:
        """Let it end by itself, and look at how so that nobody is warned."""
        self._left.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: "asyncio.Future[Any]") -> None:
        self._left.discard(task)
        if not task.cancelled():
            task.exception()


async def _result(task: Awaitable[T]) -> T:
    return await task
