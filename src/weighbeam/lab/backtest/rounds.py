"""Rounds of one mechanism on two sides: what became of answers, and which rounds changed most."""

import heapq
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from weighbeam.lab.backtest.outcome import AnswerOutcome, RoundOutcome

MAX_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class ChangedAnswer:
    """One answer whose pay, status or reasons changed; `change` is of its emission, or else of its score."""

    round: str
    at: float
    hotkey: str
    before: AnswerOutcome
    after: AnswerOutcome
    change: float

    def as_json(self) -> dict[str, Any]:
        sides = {
            name: {"status": one.status, "pay": measure(one), "reasons": list(one.reasons)}
            for name, one in (("before", self.before), ("after", self.after))
        }
        return {"round": self.round, "at": self.at, "hotkey": self.hotkey, "change": self.change, **sides}


@dataclass(slots=True)
class AnswerCounts:
    """Of one side: answers by status and by reason, and rounds in which no answer counts."""

    statuses: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    barren: int = 0

    def note(self, outcome: RoundOutcome) -> None:
        self.statuses.update(one.status for one in outcome.results)
        self.reasons.update(reason for one in outcome.results for reason in one.reasons)
        self.barren += not any(one.status == "valid" for one in outcome.results)

    def as_json(self) -> dict[str, Any]:
        return {"statuses": dict(self.statuses), "reasons": dict(self.reasons), "rounds_without_valid": self.barren}


@dataclass(slots=True)
class RoundTally:
    """Summary of all rounds in bounded space: counts, the most changed rounds, and totals of each miner."""

    rounds: int = 0
    answers: int = 0
    changed: int = 0
    differ: int = 0
    before: AnswerCounts = field(default_factory=AnswerCounts)
    after: AnswerCounts = field(default_factory=AnswerCounts)
    turned: Counter[str] = field(default_factory=Counter)
    by_miner: dict[str, ChangedAnswer] = field(default_factory=dict)
    _largest: list[tuple[float, int, str, list[ChangedAnswer]]] = field(default_factory=list)

    def note(self, before: RoundOutcome, after: RoundOutcome) -> None:
        self.rounds += 1
        self.answers += len(before.results)
        self.differ += before.digest != after.digest
        self.before.note(before)
        self.after.note(after)
        if before.results != after.results:
            self._note_changes(before, after)

    def _note_changes(self, before: RoundOutcome, after: RoundOutcome) -> None:
        self.changed += 1
        others = {one.hotkey: one for one in after.results}
        moved = [
            ChangedAnswer(before.ref, before.at, one.hotkey, one, other, _subtract(other, one))
            for one in before.results
            if (other := others.get(one.hotkey)) is not None and other != one
        ]
        self.turned.update(f"{one.before.status} → {one.after.status}" for one in moved if _turns(one))
        for one in moved:
            known = self.by_miner.get(one.hotkey)
            if known is None or abs(one.change) > abs(known.change):
                self.by_miner[one.hotkey] = one
        total = sum(abs(one.change) for one in moved)
        heapq.heappush(self._largest, (total, -self.rounds, before.ref, moved))
        if len(self._largest) > MAX_ROUNDS:
            heapq.heappop(self._largest)

    def list_largest(self) -> list[tuple[str, float, list[ChangedAnswer]]]:
        """The rounds that changed most, and in each the miners that did."""
        return [
            (ref, total, sorted(moved, key=lambda one: -abs(one.change)))
            for total, _, ref, moved in sorted(self._largest, reverse=True)
        ]

    def as_json(self) -> dict[str, Any]:
        return {
            "rounds": self.rounds,
            "answers": self.answers,
            "changed": self.changed,
            "before": self.before.as_json(),
            "after": self.after.as_json(),
            "turned": dict(self.turned),
            "largest": [
                {"round": ref, "change": total, "miners": [one.as_json() for one in moved]}
                for ref, total, moved in self.list_largest()
            ],
        }


def measure(result: AnswerOutcome) -> float | None:
    """Pay of a round, if it pays; else its score."""
    return result.value if result.emission is None else result.emission


def _subtract(after: AnswerOutcome, before: AnswerOutcome) -> float:
    return (measure(after) or 0.0) - (measure(before) or 0.0)


def _turns(moved: ChangedAnswer) -> bool:
    return moved.before.status != moved.after.status
