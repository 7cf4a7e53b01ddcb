"""The watchdog: end the process when its event loop or its work stalls."""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.running.health import Health

LOG = logging.getLogger("weighbeam")
LOOP_SECONDS = 300.0
LOOK_SECONDS = 1.0
EXIT_FROZEN = 70


class Supervisor:
    """A thread that ends the process if the event loop has not beaten for `seconds`."""

    def __init__(self, seconds: float = LOOP_SECONDS, end: Callable[[int], object] = os._exit) -> None:
        self._seconds = seconds
        self._end = end
        self._beaten = time.monotonic()
        self._stop = threading.Event()

    async def beat(self) -> None:
        """Run this in the loop that is watched."""
        thread = threading.Thread(target=self._watch, name="supervisor", daemon=True)
        self._beaten = time.monotonic()
        thread.start()
        try:
            while True:
                self._beaten = time.monotonic()
                await asyncio.sleep(min(LOOK_SECONDS, self._seconds / 4))
        finally:
            self._stop.set()

    def _watch(self) -> None:
        while not self._stop.wait(min(LOOK_SECONDS, self._seconds / 4)):
            silent = time.monotonic() - self._beaten
            if silent > self._seconds:
                LOG.critical("the event loop stood still for %.0f s | remedy: the service manager restarts it", silent)
                self._end(EXIT_FROZEN)
                return


async def watch_progress(health: Health, alerts: Alerts) -> None:
    """Raise `watchdog` once a mechanism has stood still for too long."""
    while True:
        await asyncio.sleep(min(LOOK_SECONDS, health.patience / 4))
        hung = health.hung()
        if hung:
            text = f"no progress for {health.patience:g} s: {', '.join(hung)}"
            alerts.tell("watchdog", "critical", text)
            raise WeighbeamError("watchdog", text, "look at the log before this line; the service manager restarts it")
