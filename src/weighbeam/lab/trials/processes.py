"""Play seasons in processes of this machine; results keep the order of the jobs."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.lab.simulate.measure import Trial
from weighbeam.lab.trials.jobs import Job, OnDone, Play, attempt, order_jobs, unwrap_result
from weighbeam.senses.adapters.cluster.connection import ONE_THREAD

MAX_WORKERS = 512


class Spread(Protocol):
    def play(self, play: Play, jobs: Sequence[Job], on_done: OnDone) -> list[Trial]:
        """Every job's trial, in the order given; the first fault ends it."""
        ...


@dataclass(frozen=True, slots=True)
class Processes:
    """Processes of this machine, one core each."""

    workers: int = 0

    def play(self, play: Play, jobs: Sequence[Job], on_done: OnDone) -> list[Trial]:
        from multiprocessing import get_context

        workers = count_workers(self.workers, len(jobs))
        with _one_thread():
            pool = ProcessPoolExecutor(workers, get_context("spawn"), prepare_worker)
            try:
                return _collect(pool, play, jobs, on_done)
            except BrokenProcessPool:
                told = "a process that played seasons was killed"
                raise WeighbeamError("worker_lost", told, "use fewer --workers if memory ran out") from None
            finally:
                pool.shutdown(cancel_futures=True)


def _collect(pool: ProcessPoolExecutor, play: Play, jobs: Sequence[Job], on_done: OnDone) -> list[Trial]:
    futures = {pool.submit(attempt, play, jobs[number]): number for number in order_jobs(jobs)}
    trials: dict[int, Trial] = {}
    for future in as_completed(futures):
        trials[futures[future]] = unwrap_result(future.result())
        on_done(len(trials), len(jobs))
    return [trials[number] for number in range(len(jobs))]


def count_workers(wanted: int, jobs: int) -> int:
    """As many as asked for, 0 being one per core; never more than there are jobs.

    >>> count_workers(4, 2), count_workers(1, 9)
    (2, 1)
    """
    require(0 <= wanted <= MAX_WORKERS, "bad_workers", f"{wanted} workers", f"give 1 to {MAX_WORKERS}, or 0 for all")
    return max(1, min(wanted or os.cpu_count() or 1, jobs))


def prepare_worker() -> None:
    """In a new process: an interrupt is the parent's to handle, and its end is ours."""
    import signal
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Processes inherit limits on threads that are set before they start."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
