"""Context of an observation: the deadline of each stage, one snippet and its facts so far, and what all snippets of a
round share.

Every stage has until its mark, counted in seconds from the beginning, and what one leaves over is the next one's. What
is not done by then is left undone: a fact that is missing is the validator's fault, and charged to nobody.
"""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from weighbeam.core.canonical import seeded_digest
from weighbeam.mechanisms.evidence.judge.request import TAG_DIGITS
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.url.lists import Lists
from weighbeam.senses.ports.protocols import ObservationClock, Senses

ObserveStage = Literal["similarity", "read", "match", "relevance", "infer", "again", "assess"]
T = TypeVar("T")

MARKS: Mapping[ObserveStage, float] = {
    "similarity": 40.0,
    "read": 105.0,
    "match": 125.0,
    "relevance": 130.0,
    "infer": 138.0,
    "again": 142.0,
    "assess": 145.0,
}
DECIMALS = 6


class RoundDeadline:
    """A round's time, from now on."""

    def __init__(self, clock: ObservationClock, marks: Mapping[ObserveStage, float] = MARKS) -> None:
        self._clock, self._marks = clock, marks
        self._began = clock.seconds()

    def left(self, stage: ObserveStage) -> float:
        """The seconds a stage has left, none at the worst."""
        return max(0.0, self._began + self._marks[stage] - self._clock.seconds())

    def allows(self, stage: ObserveStage) -> Callable[[], bool]:
        """Whether a stage has any time left, for who asks again and again."""
        return lambda: self.left(stage) > 0


class StageStopwatch:
    """Seconds since it was made."""

    def __init__(self, clock: ObservationClock) -> None:
        self._clock, self._began = clock, clock.seconds()

    @property
    def seconds(self) -> float:
        return round(max(0.0, self._clock.seconds() - self._began), DECIMALS)


def start_thread(work: Callable[[], T]) -> "Future[T]":
    """Start what waits for others in a thread of its own."""
    threads = ThreadPoolExecutor(1, "evidence")
    future = threads.submit(work)
    threads.shutdown(wait=False)
    return future


def wait_for(future: "Future[T]", seconds: float, part: str, faults: list[str]) -> T | None:
    """Wait for a result; None if it is late or failed, with the reason in `faults`."""
    try:
        return future.result(seconds)
    except TimeoutError:
        return None
    except Exception as fault:
        faults.append(f"{part}: {type(fault).__name__}")
        return None


@dataclass(slots=True)
class ObservedSnippet:
    """One snippet, and the facts found so far."""

    hotkey: str
    number: int
    url: str | None
    excerpt: str | None
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def passes(self) -> bool:
        return bool(self.facts["url"]["ok"])

    @property
    def is_read(self) -> bool:
        return bool(self.facts["page"]["outcome"] == "read")

    def give_up(self, why: str) -> None:
        """A text on which a working model fails counts as an unreadable page."""
        self.facts["page"] = {**self.facts.get("page", {}), "outcome": "unreadable", "fault": why}

    def time(self, what: str, seconds: float) -> None:
        """Note how long something took: shown, and part of no score."""
        self.facts.setdefault("timings", {})[what] = seconds


@dataclass(frozen=True, slots=True)
class ObserveContext:
    """Context shared by all snippets of a round."""

    params: EvidenceParams
    statement: str
    seed: str | int
    at: float | None
    lists: Lists
    senses: Senses
    hurry: RoundDeadline
    faults: list[str] = field(default_factory=list)

    def watch(self) -> StageStopwatch:
        return StageStopwatch(self.senses.clock)

    def make_known_sentence(self, why: str) -> str:
        """Words of our own that no model has seen before, so that its answer comes from itself."""
        return f"A known sentence, {seeded_digest(self.seed, why)[:TAG_DIGITS]}."


def time_all(looked: Iterable[ObservedSnippet], what: str, watch: StageStopwatch) -> None:
    """Note what was done for all at once: each waited for the whole of it."""
    seconds = watch.seconds
    for one in looked:
        one.time(what, seconds)
