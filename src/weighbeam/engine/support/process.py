"""Process helpers: run slow work on a daemon thread, and exclude long-lived objects from garbage collection
(`gc.freeze`).

The event loop's own threads are joined when the process stops; what talks to strangers, or draws, must not hold that
up.

A full collection goes through every object of every module that is loaded and holds up the event loop for 60 ms and
more. What exists once a validator is built lives as long as it does.
"""

import asyncio
import gc
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


async def run_in_daemon_thread(work: Callable[Given, Result], *arguments: Given.args, **named: Given.kwargs) -> Result:
    """What comes of it; once cancelled, it is left to itself."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def settle(set_outcome: Callable[[Any], None], outcome: Any) -> None:
        if not future.done():
            set_outcome(outcome)

    def run() -> None:
        told: tuple[Callable[[Any], None], Any]
        try:
            told = future.set_result, work(*arguments, **named)
        except Exception as fault:
            told = future.set_exception, fault
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, *told)

    threading.Thread(target=run, name="aside", daemon=True).start()
    return await future


def freeze_memory() -> None:
    """To be called once, when everything is loaded."""
    gc.collect()
    gc.freeze()
