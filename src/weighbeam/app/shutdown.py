"""Stop a program in order on SIGTERM or SIGINT, and by force after a grace period."""

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from weighbeam.engine.alerts.alerts import LOG
from weighbeam.engine.running.watchdog import EXIT_FROZEN

GRACE_SECONDS = 20.0


async def run_until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Until the work ends, or SIGTERM or SIGINT asks for an orderly end."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, _request_stop, task)
    try:
        with suppress(asyncio.CancelledError):
            await task
    finally:
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(name)


def _request_stop(task: asyncio.Future[None]) -> None:
    """An orderly end; a thread that hangs gets some seconds, then the process goes without it."""
    last = threading.Timer(GRACE_SECONDS, end_now)
    last.daemon = True
    last.start()
    task.cancel()


def end_now() -> None:
    """Without waiting for any thread: what is durable is durable, and the rest is recovered at the next start."""
    LOG.critical("ended without waiting for hanging work | remedy: the service manager restarts it")
    logging.shutdown()
    os._exit(EXIT_FROZEN)
