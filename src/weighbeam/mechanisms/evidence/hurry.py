"""The time that observing a round may take, whatever strangers put on their pages.

Every stage has until its mark, counted in seconds from the beginning, and what one leaves over is the next one's. What
is not done by then is left undone: a fact that is missing is the validator's fault, and charged to nobody.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Literal, TypeVar

from weighbeam.senses.ports import Clock

Stage = Literal["similarity", "read", "match", "relevance", "infer", "again", "assess"]
T = TypeVar("T")

MARKS: Mapping[Stage, float] = {
    "similarity": 40.0,
    "read": 105.0,
    "match": 125.0,
    "relevance": 130.0,
    "infer": 138.0,
    "again": 142.0,
    "assess": 145.0,
}
DECIMALS = 6


class Hurry:
    """A round's time, from now on."""

    def __init__(self, clock: Clock, marks: Mapping[Stage, float] = MARKS) -> None:
        self._clock, self._marks = clock, marks
        self._began = clock.seconds()

    def left(self, stage: Stage) -> float:
        """The seconds a stage has left, none at the worst."""
        return max(0.0, self._began + self._marks[stage] - self._clock.seconds())

    def allows(self, stage: Stage) -> Callable[[], bool]:
        """Whether a stage has any time left, for who asks again and again."""
        return lambda: self.left(stage) > 0


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self._began = clock, clock.seconds()

    @property
    def seconds(self) -> float:
        return round(max(0.0, self._clock.seconds() - self._began), DECIMALS)


def begin(work: Callable[[], T]) -> "Future[T]":
    """Start what waits for others in a thread of its own."""
    threads = ThreadPoolExecutor(1, "evidence")
    future = threads.submit(work)
    threads.shutdown(wait=False)
    return future


def wait_for(future: "Future[T]", seconds: float, part: str, faults: list[str]) -> T | None:
    """What came of it; None if it is not done after so many seconds, or failed: then `faults` tell how."""
    try:
        return future.result(seconds)
    except TimeoutError:
        return None
    except Exception as fault:
        faults.append(f"{part}: {type(fault).__name__}")
        return None
