"""Process helpers: run a mechanism's code on a thread and slow work on a daemon thread, and exclude long-lived objects
from garbage collection (`gc.freeze`).

A mechanism's code may be slow and may call `sys.exit`: neither may stop the event loop, which all mechanisms share.

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
from functools import partial
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


class MechanismExit(Exception):
    """A mechanism's code tried to end the process."""


def refuse_exit(work: Callable[Given, Result], *arguments: Given.args, **named: Given.kwargs) -> Result:
    """The result of `work`; if it raises SystemExit, that is an error like any other.

    >>> refuse_exit(exit, 3)
    Traceback (most recent call last):
    ...
    weighbeam.engine.support.process.MechanismExit: SystemExit: 3
    """
    try:
        return work(*arguments, **named)
    except SystemExit as fault:
        raise MechanismExit(f"SystemExit: {fault}") from fault


async def run_in_thread(work: Callable[Given, Result], *arguments: Given.args, **named: Given.kwargs) -> Result:
    """Run a mechanism's code off the event loop; if it tries to end the process, that is `MechanismExit`."""
    return await asyncio.to_thread(partial(refuse_exit, work, *arguments, **named))


async def run_in_daemon_thread(work: Callable[Given, Result], *arguments: Given.args, **named: Given.kwargs) -> Result:
    """Run a function in a daemon thread; once cancelled, the thread is abandoned."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def settle(set_outcome: Callable[[Any], None], outcome: Any) -> None:
        if not future.done():
            set_outcome(outcome)

    def run() -> None:
        told: tuple[Callable[[Any], None], Any]
        try:
            told = future.set_result, refuse_exit(work, *arguments, **named)
        except Exception as fault:
            told = future.set_exception, fault
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, *told)

    threading.Thread(target=run, name="aside", daemon=True).start()
    return await future


def freeze_memory() -> None:
    """Exclude loaded objects from garbage collection; call it once after loading."""
    gc.collect()
    gc.freeze()
