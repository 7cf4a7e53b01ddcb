"""A worker on a node, and the same worker as its pool sees it."""

import math
import os
import pickle
import platform
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Protocol

from weighbeam import __version__
from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.cluster.messages import format_fault
from weighbeam.senses.adapters.cluster.spec import OpenedSense, SenseSpec, WorkerStandard


@dataclass(frozen=True, slots=True)
class WorkerIntroduction:
    """Where a worker is and what it can do; `fault` if it cannot."""

    node: str
    pid: int
    standard: WorkerStandard
    fault: dict[str, str] | None = None


class NodeWorker:
    """A worker on a node. Faults other than the sense's own are raised, and another worker gets the part."""

    def __init__(self, spec: bytes, version: str) -> None:
        self._spec, self._version = spec, version
        self._opened: OpenedSense | None = None

    def introduce(self) -> WorkerIntroduction:
        """A worker of another version reads nothing of what it was given."""
        node, pid = platform.node(), os.getpid()
        if self._version != __version__:
            return WorkerIntroduction(node, pid, WorkerStandard(__version__, "", ""))
        try:
            spec: SenseSpec = pickle.loads(self._spec)
            self._opened = opened = spec.open()
            return WorkerIntroduction(node, pid, WorkerStandard(__version__, opened.digest, opened.try_known()))
        except WeighbeamError as fault:
            return WorkerIntroduction(node, pid, WorkerStandard(__version__, "", ""), format_fault(fault))

    def do(self, payload: bytes) -> tuple[dict[str, str] | None, bytes]:
        """The fault, or the bytes."""
        assert self._opened is not None
        try:
            return None, self._opened.do(pickle.loads(payload))
        except WeighbeamError as fault:
            return format_fault(fault), b""


MAX_TEXT = 300

PartResult = tuple[dict[str, str] | None, bytes]


class UnfitWorker(Exception):
    """A worker cannot start, and another on the same node could not either."""


class WorkerHandle(Protocol):
    """A worker, wherever it is. What it raises means that it is lost."""

    def introduce(self) -> Awaitable[WorkerIntroduction]:
        """Describe the worker once it has started and loaded its sense; else `UnfitWorker`."""
        ...

    def do(self, payload: bytes) -> Awaitable[PartResult]: ...

    def end(self) -> None: ...


@dataclass(slots=True)
class PoolBatch:
    """A part that somebody waits for; `tries` counts the workers that were lost over it."""

    number: int
    lane: int | None
    payload: bytes = field(repr=False)
    tries: int = 0


@dataclass(eq=False, slots=True)
class PoolMember:
    """`since` is when it last began or finished something. `leaving`: it finishes what it has, and gets no more."""

    hand: WorkerHandle
    since: float
    node: str = ""
    ready: bool = False
    leaving: bool = False
    batches: dict[int, PoolBatch] = field(default_factory=dict)

    def has_room(self, window: int, batch: PoolBatch | None = None) -> bool:
        """Whether it may have one more. Parts that workers were lost over are done alone, so that they take no other
        with them."""
        if not self.ready or self.leaving or any(one.tries for one in self.batches.values()):
            return False
        return len(self.batches) < (1 if batch is not None and batch.tries else window)


def describe_difference(found: WorkerIntroduction, wanted: WorkerStandard) -> str | None:
    """Why a worker may not be used; None if it may."""
    if found.fault is not None:
        return f"the worker on {found.node} cannot start: {found.fault['code']}: {found.fault['message']}"
    for name in ("version", "digest", "known"):
        here, there = getattr(wanted, name), getattr(found.standard, name)
        if here != there:
            what = {"version": "weighbeam", "digest": "the sense's digest", "known": "what it makes of known input"}
            return f"on {found.node} {what[name]} is {there[:16]!r}, here {here[:16]!r}"
    return None


def pause_after(failures: int) -> float:
    """Seconds before another worker is started after so many that could not be used.

    >>> [pause_after(failures) for failures in (0, 1, 2, 4, 20)]
    [0.0, 1.0, 2.0, 8.0, 60.0]
    """
    return min(60.0, math.ldexp(1.0, min(failures, 10) - 1)) if failures else 0.0


def describe_fault(fault: BaseException) -> str:
    """In one line; of what Ray tells, the end says most."""
    text = " ".join(str(fault).split())
    return f"{type(fault).__name__}: {text if len(text) <= MAX_TEXT else '…' + text[-MAX_TEXT:]}"
