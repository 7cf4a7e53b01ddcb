"""An event loop in a thread of its own, so that threads may wait for what runs side by side."""

import asyncio
import threading
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


class EventLoopThread:
    """Started when first used; a daemon, since nothing in it has to survive."""

    def __init__(self, name: str = "pages") -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do it there, wait for it here."""
        return asyncio.run_coroutine_threadsafe(work, self._start()).result()

    def _start(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True)
                self._thread.start()
            return self._loop

    def close(self) -> None:
        """Stop the loop; running work is cancelled, and its callers get an error."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(_cancel(asyncio.all_tasks(loop)))
        loop.close()


async def finish_within(seconds: float, work: Sequence[Coroutine[Any, Any, T]], otherwise: T) -> list[T]:
    """Run all concurrently and return the results; `otherwise` replaces failures and work cancelled at the deadline."""
    tasks = [asyncio.ensure_future(one) for one in work]
    if tasks:
        await asyncio.wait(tasks, timeout=seconds)
    done = [task.done() and not task.cancelled() and task.exception() is None for task in tasks]
    results = [task.result() if fine else otherwise for task, fine in zip(tasks, done, strict=True)]
    await _cancel(tasks)
    return results


async def _cancel(tasks: Iterable[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
