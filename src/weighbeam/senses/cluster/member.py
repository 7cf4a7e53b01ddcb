"""A worker as its pool sees it."""

import math
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Protocol

from weighbeam.senses.cluster.spec import Standard
from weighbeam.senses.cluster.worker import Introduction

MOST_TEXT = 300

Made = tuple[dict[str, str] | None, bytes]


class Unfit(Exception):
    """A worker cannot start, and another on the same node could not either."""


class Hand(Protocol):
    """A worker, wherever it is. What it raises means that it is lost."""

    def introduce(self) -> Awaitable[Introduction]:
        """Who it is, once it has a place and has loaded its sense; else `Unfit`."""
        ...

    def do(self, payload: bytes) -> Awaitable[Made]: ...

    def end(self) -> None: ...


@dataclass(slots=True)
class Batch:
    """A part that somebody waits for; `tries` counts the workers that were lost over it."""

    number: int
    lane: int | None
    payload: bytes = field(repr=False)
    tries: int = 0


@dataclass(eq=False, slots=True)
class Member:
    """`since` is when it last began or finished something. `leaving`: it finishes what it has, and gets no more."""

    hand: Hand
    since: float
    node: str = ""
    ready: bool = False
    leaving: bool = False
    batches: dict[int, Batch] = field(default_factory=dict)

    def has_room(self, window: int, batch: Batch | None = None) -> bool:
        """Whether it may have one more. Parts that workers were lost over are done alone, so that they take no other
        with them."""
        if not self.ready or self.leaving or any(one.tries for one in self.batches.values()):
            return False
        return len(self.batches) < (1 if batch is not None and batch.tries else window)


def tell_difference(found: Introduction, wanted: Standard) -> str | None:
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


def tell_fault(fault: BaseException) -> str:
    """In one line; of what Ray tells, the end says most."""
    text = " ".join(str(fault).split())
    return f"{type(fault).__name__}: {text if len(text) <= MOST_TEXT else '…' + text[-MOST_TEXT:]}"
