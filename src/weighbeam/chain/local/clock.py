"""The chain's own clock: `speed` times as fast as the wall's, so that a demo lives through hours in a minute."""

import asyncio
import sqlite3
import time

from weighbeam.chain.contract import ChainFault
from weighbeam.chain.local.blocks import at_present
from weighbeam.chain.local.file import ChainFile


class ChainClock:
    """Seconds as a local chain counts them; while its file cannot be used, they go on from the last reading."""

    def __init__(self, file: ChainFile) -> None:
        self._file = file
        self._speed = float(file.read("speed"))
        self._read: tuple[float, float] | None = None

    def now(self) -> float:
        try:
            with at_present(self._file) as block:
                now = self._file.time_of(block)
        except sqlite3.DatabaseError as fault:
            if self._read is None:
                raise ChainFault("unreachable", f"the chain file cannot be used: {fault}", "check it") from None
            then, at = self._read
            return at + (time.monotonic() - then) * self._speed
        self._read = time.monotonic(), now
        return now

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self._speed)
