"""A snippet on its way through the checks, and what all snippets of a round share."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from weighbeam.core.canonical import seeded_digest
from weighbeam.mechanisms.evidence.assess_request import TAG_DIGITS
from weighbeam.mechanisms.evidence.hurry import Hurry, Stopwatch
from weighbeam.mechanisms.evidence.lists import Lists
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.senses.ports import Senses


@dataclass(slots=True)
class Looked:
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
        """A text that one of our models fails on, though it works, is no better than a page that cannot be read."""
        self.facts["page"] = {**self.facts.get("page", {}), "outcome": "unreadable", "fault": why}

    def time(self, what: str, seconds: float) -> None:
        """Note how long something took: shown, and part of no score."""
        self.facts.setdefault("timings", {})[what] = seconds


@dataclass(frozen=True, slots=True)
class Round:
    """What all snippets of a round share."""

    params: EvidenceParams
    statement: str
    seed: str | int
    at: float | None
    lists: Lists
    senses: Senses
    hurry: Hurry
    faults: list[str] = field(default_factory=list)

    def watch(self) -> Stopwatch:
        return Stopwatch(self.senses.clock)

    def write_known(self, why: str) -> str:
        """Words of our own that no model has seen before, so that its answer comes from itself."""
        return f"A known sentence, {seeded_digest(self.seed, why)[:TAG_DIGITS]}."


def time_all(looked: Iterable[Looked], what: str, watch: Stopwatch) -> None:
    """Note what was done for all at once: each waited for the whole of it."""
    seconds = watch.seconds
    for one in looked:
        one.time(what, seconds)
