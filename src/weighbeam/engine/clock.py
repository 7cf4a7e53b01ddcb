"""Time as the engine sees it: the wall clock, or a chain's accelerated one."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """`now` is UTC seconds for records and windows; `sleep` passes that many of its seconds."""

    def now(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class WallClock:
    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
