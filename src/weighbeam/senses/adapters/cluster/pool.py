"""The workers of one sense: parts go to those that have room, others wait, and those of a lost worker go to another.

It requests more workers while parts wait and no worker has room. A cluster's autoscaler sees such a request; no part
waits for it. Workers idle for a while are stopped, down to the minimum.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.cluster.messages import LEFT, OpenPool, PoolStatus, WorkerBounds, format_fault
from weighbeam.senses.adapters.cluster.workers import (
    PartResult,
    PoolBatch,
    PoolMember,
    UnfitWorker,
    WorkerHandle,
    describe_difference,
    describe_fault,
    pause_after,
)

MAX_TRIES = 3
START_SECONDS = 300.0
UNFIT_SECONDS = 600.0
MAX_TOLD = 1000
RAMP_SECONDS = 0.3
STARVED_SECONDS = 1.0

OnPartResult = Callable[[int, PartResult], None]


class WorkerPool:
    """To be used within one event loop; `look_after` is called every now and then."""

    def __init__(
        self, terms: OpenPool, bounds: WorkerBounds, start: Callable[[OpenPool], WorkerHandle], answer: OnPartResult
    ) -> None:
        self._terms, self._bounds = terms, bounds
        self._start, self._answer = start, answer
        self._window = terms.at_once + 1
        self._members: list[PoolMember] = []
        self._waiting: list[PoolBatch] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._failures = 0
        self._rested = 0.0
        self._calm = _now()
        self._unfit: dict[str, tuple[float, str]] = {}

    @property
    def status(self) -> PoolStatus:
        ready = [member for member in self._members if member.ready]
        busy = sum(bool(member.batches) for member in ready)
        recent = (text for at, text in self._unfit.values() if _now() - at < UNFIT_SECONDS)
        differs = "; ".join(sorted(recent))[:MAX_TOLD] or None
        return PoolStatus(len(ready), busy, len(self._members) - len(ready), len(self._waiting), differs)

    def add(self, batch: PoolBatch) -> None:
        if not self._waiting:
            self._calm = _now()
        self._waiting.append(batch)
        self._hand_out()

    def drop(self, numbers: frozenset[int]) -> None:
        self._waiting = [batch for batch in self._waiting if batch.number not in numbers]

    def is_starved(self) -> bool:
        """Parts wait, and there is nobody to do them."""
        there = any(member.ready for member in self._members)
        return bool(self._waiting) and not there and _now() - self._calm >= STARVED_SECONDS

    def look_after(self, others_starve: bool = False) -> None:
        """End who hangs or idles, start who is needed. Beyond the least, room is left to those who have nobody."""
        now = _now()
        if not self._waiting:
            self._calm = now
        for member in list(self._members):
            if member.batches and now - member.since >= self._terms.part_seconds:
                self._lose(member)
            elif (not member.batches and member.leaving) or (not member.ready and now - member.since >= START_SECONDS):
                self._end(member)
        self._shrink(now)
        if others_starve:
            self._make_room()
        self._grow(now, others_starve)
        self._hand_out()

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        for member in list(self._members):
            self._end(member)

    def _grow(self, now: float, others_starve: bool) -> None:
        if now < self._rested:
            return
        there = len(self._members)
        starting = sum(not member.ready for member in self._members)
        wanted = self._bounds.min_workers - there
        full = not any(member.has_room(self._window) for member in self._members)
        if self._waiting and full and not others_starve and now - self._calm >= RAMP_SECONDS:
            ramp = max(1, there - starting) - starting
            wanted = max(wanted, min(ramp, len(self._waiting), self._bounds.max_workers - there))
        for _ in range(wanted):
            member = PoolMember(self._start(self._terms), now)
            self._members.append(member)
            self._keep(self._welcome(member))

    def _shrink(self, now: float) -> None:
        seconds = self._bounds.idle_seconds
        spare = len(self._members) - self._bounds.min_workers
        idle = [member for member in self._members if not member.batches and now - member.since >= seconds]
        idle.sort(key=lambda member: (member.ready, member.since))
        for member in idle[: max(0, spare)] if not self._waiting else ():
            self._end(member)

    def _make_room(self) -> None:
        """One at a time; who has nothing to do goes first."""
        ready = [member for member in self._members if member.ready]
        if len(ready) > self._bounds.min_workers and not any(member.leaving for member in ready):
            min(ready, key=lambda member: len(member.batches)).leaving = True

    def _hand_out(self) -> None:
        """In order. For a part that has to be done alone, one worker gets nothing else until it is free."""
        kept: PoolMember | None = None
        for batch in list(self._waiting):
            able = [one for one in self._members if one is not kept and one.has_room(self._window)]
            if not able:
                return
            member = self._choose(batch, able)
            if member is not None:
                self._waiting.remove(batch)
                member.since = member.since if member.batches else _now()
                member.batches[batch.number] = batch
                self._keep(self._work(member, batch))
            elif batch.tries and kept is None:
                kept = min(able, key=lambda one: len(one.batches))

    def _choose(self, batch: PoolBatch, able: list[PoolMember]) -> PoolMember | None:
        """Choose the worker with the least work; a lane in progress stays with its worker."""
        able = [member for member in able if member.has_room(self._window, batch)]
        if batch.lane is not None:
            at = [one for one in self._members if any(b.lane == batch.lane for b in one.batches.values())]
            able = [member for member in able if not at or member in at]
        return min(able, key=lambda member: len(member.batches), default=None)

    async def _welcome(self, member: PoolMember) -> None:
        """A worker is used once it has shown that it makes the same of everything as this machine."""
        try:
            found = await member.hand.introduce()
            told = describe_difference(found, self._terms.standard)
            member.node = found.node
        except UnfitWorker as fault:
            told = f"a worker cannot start: {fault}"
        except Exception:
            if member in self._members:
                self._fail(member)
            return
        if member not in self._members:
            return
        if told is not None:
            self._unfit[member.node] = _now(), told
            self._fail(member)
            return
        self._failures = 0
        self._unfit.pop(member.node, None)
        member.ready, member.since = True, _now()
        self._hand_out()

    async def _work(self, member: PoolMember, batch: PoolBatch) -> None:
        try:
            made = await member.hand.do(batch.payload)
        except Exception as fault:
            if batch.number in member.batches:
                self._lose(member, describe_fault(fault))
            return
        if member.batches.pop(batch.number, None) is not None:
            member.since = _now()
            self._answer(batch.number, made)
            self._hand_out()

    def _lose(self, member: PoolMember, why: str | None = None) -> None:
        """Give a lost worker's parts to others, in their old order; `why` is None if it hung."""
        lost, member.batches = list(member.batches.values()), {}
        self._end(member)
        for batch in lost:
            batch.tries += 1
            if batch.tries < MAX_TRIES:
                self._waiting.append(batch)
            elif why is None:
                self._answer(batch.number, ({"code": LEFT}, b""))
            else:
                told = f"{MAX_TRIES} workers were lost over one part of the work; the last on {member.node}: {why}"
                fault = WeighbeamError("worker_lost", told, "look at Ray's logs; give the nodes more memory")
                self._answer(batch.number, (format_fault(fault), b""))
        self._waiting.sort(key=lambda batch: batch.number)
        self._hand_out()

    def _fail(self, member: PoolMember) -> None:
        """A worker that could not be used; the next one is started after a pause."""
        self._end(member)
        self._failures += 1
        self._rested = _now() + pause_after(self._failures)

    def _end(self, member: PoolMember) -> None:
        if member in self._members:
            self._members.remove(member)
            member.hand.end()

    def _keep(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _now() -> float:
    return asyncio.get_running_loop().time()
