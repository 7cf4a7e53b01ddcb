"""The machine's own clock, for chains that a test moves by hand."""

import asyncio
import time


class WallClock:
    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
