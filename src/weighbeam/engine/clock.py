"""Time as the engine sees it: a chain's own, which may run faster than the wall's."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """`now` is UTC seconds for records and windows; `sleep` passes that many of its seconds."""

    def now(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class WallClock:
    """The machine's own clock."""

    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
