"""Time to spend: one sum for a whole read, from which waiting for one's turn is not taken."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from weighbeam.senses.pages.ends import Unreachable


class Budget:
    """Seconds that are left of `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._given = self.left = seconds

    @property
    def spent(self) -> float:
        return self._given - self.left

    @asynccontextmanager
    async def spend(self) -> AsyncIterator[None]:
        """What happens inside costs its time, and ends as `Unreachable` when none is left."""
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            async with asyncio.timeout(self.left):
                yield
        except TimeoutError:
            raise Unreachable("timeout") from None
        finally:
            self.left -= clock() - began
