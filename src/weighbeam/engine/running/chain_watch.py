"""Watch the chain in the background: a stall is noticed at once, and this machine's clock is held against its time.

One subscription, on a connection of its own: what is dropped here is never a submission's.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

from weighbeam.chain.contract import Chain, ChainFault
from weighbeam.engine.alerts.alerts import Alerts, log_fault
from weighbeam.engine.support.clock import EngineClock

COMPARE_SECONDS, REPEAT_SECONDS = 60.0, 3600.0
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 1.0, 15.0
LOOKS = 8
"""How often the time since the newest block is looked at before it is too long."""


@dataclass(frozen=True, slots=True)
class WatchLimits:
    """Seconds without a new block after which the chain stalls, and seconds that clocks may differ."""

    stall: float = 48.0
    skew: float = 30.0
    compare: float = COMPARE_SECONDS


class ChainWatch:
    """Alerts `stalled` and `clock_skew`, each raised when it begins and ended when it is over."""

    def __init__(
        self,
        chain: Chain,
        clock: EngineClock,
        alerts: Alerts,
        limits: WatchLimits | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._chain, self._clock, self._alerts = chain, clock, alerts
        self._limits = limits or WatchLimits()
        self._monotonic = monotonic
        self._newest_at = self._compared_at = monotonic()
        self._told: dict[str, float] = {}
        self._seen_well: set[str] = set()
        self._why = "the node is connected and says nothing"
        self.newest = -1
        self.restarts = 0

    async def keep_watching(self) -> None:
        """Follow blocks until cancelled; one that fails is made again, later each time."""
        self._newest_at, pause = self._monotonic(), FIRST_PAUSE_SECONDS
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._keep_looking())
                while True:
                    before = self.newest
                    await self._follow()
                    self.restarts += 1
                    pause = FIRST_PAUSE_SECONDS if self.newest > before else min(2 * pause, MAX_PAUSE_SECONDS)
                    await asyncio.sleep(min(pause, self._limits.stall / LOOKS))
        finally:
            await self._chain.close()

    async def _follow(self) -> None:
        """Until the subscription ends, for whatever reason; that is kept for an alert."""
        try:
            async with aclosing(self._chain.blocks()) as blocks:
                first = True
                async for block in blocks:
                    await self._note(block, first)
                    first = False
            self._why = "the subscription ended"
        except ChainFault as fault:
            self._why = f"{fault.code}: {fault.message}"
        except Exception as fault:
            self._why = type(fault).__name__
            log_fault(fault)

    async def _note(self, block: int, first: bool) -> None:
        """The first block of a subscription may be an old one, so no clock is compared by it."""
        if block <= self.newest:
            return
        arrived, now = self._clock.now(), self._monotonic()
        self.newest, self._newest_at = block, now
        self._why = "the node is connected and says nothing"
        await self._end("stalled", f"the chain is at block {block}")
        if first or now - self._compared_at < self._limits.compare:
            return
        self._compared_at = now
        await self._compare(arrived)

    async def _compare(self, arrived: float) -> None:
        """A node that lags behind looks like a clock that is ahead: the alert names both."""
        try:
            ahead = arrived - await self._chain.time()
        except ChainFault:
            return
        if abs(ahead) <= self._limits.skew:
            await self._end("clock_skew", "this machine's clock agrees with the chain's")
            return
        side = "ahead of" if ahead > 0 else "behind"
        text = f"this machine's clock is {abs(ahead):.0f} s {side} the chain's newest block"
        await self._tell("clock_skew", f"{text}, or the node lags behind" if ahead > 0 else text)

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(self._limits.stall / LOOKS)
            silent = self._monotonic() - self._newest_at
            if silent > self._limits.stall * (1 - 1 / LOOKS):
                what = f"no block after {self.newest}" if self.newest >= 0 else "no block"
                await self._tell("stalled", f"{what} for {silent:.0f} s ({self._why})")

    async def _tell(self, code: str, text: str) -> None:
        """Once when it begins, then once an hour."""
        now = self._monotonic()
        if now - self._told.get(code, -REPEAT_SECONDS) < REPEAT_SECONDS:
            return
        self._told[code] = now
        await asyncio.to_thread(self._alerts.tell, code, "warning", text)

    async def _end(self, code: str, why: str) -> None:
        """One that an earlier process left open is ended too, once."""
        if self._told.pop(code, None) is not None or code not in self._seen_well:
            self._seen_well.add(code)
            await asyncio.to_thread(self._alerts.end, {code: why})
