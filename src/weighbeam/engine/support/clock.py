"""The engine's clock: a local chain's may run faster than wall time."""

import asyncio
import time
from typing import Protocol


class EngineClock(Protocol):
    """`now` is UTC seconds for records and windows; `sleep` passes that many of its seconds."""

    def now(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class WallClock:
    """The machine's own clock."""

    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
