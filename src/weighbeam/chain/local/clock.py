"""The chain's own clock: `speed` times as fast as the wall's, so that a demo lives through hours in a minute."""

import asyncio

from weighbeam.chain.local.blocks import at_present
from weighbeam.chain.local.file import ChainFile


class ChainClock:
    """Seconds as a local chain counts them."""

    def __init__(self, file: ChainFile) -> None:
        self._file = file
        self._speed = float(file.read("speed"))

    def now(self) -> float:
        with at_present(self._file) as block:
            return float(self._file.read("genesis_time") + block * self._file.read("block_seconds"))

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self._speed)
