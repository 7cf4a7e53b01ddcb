"""Weigh-ins of one mechanism on two sides: what was decided, how much of the weights went elsewhere, and to whom."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from weighbeam.lab.backtest.outcome import WeighInOutcome

Shares = Mapping[str, float]


@dataclass(slots=True)
class Vectors:
    """Of one side: the sum of its weight vectors, the last of them, and how far each was from the one before."""

    sums: dict[str, float] = field(default_factory=dict)
    last: Shares = field(default_factory=dict)
    modes: Counter[str] = field(default_factory=Counter)
    skips: Counter[str] = field(default_factory=Counter)
    submits: int = 0
    uniform: int = 0
    burnt: float = 0.0
    moved: float = 0.0
    steps: int = 0
    oldest: int = 0

    def note(self, outcome: WeighInOutcome) -> None:
        self.modes[outcome.mode] += 1
        self.oldest = max(self.oldest, outcome.blocks)
        if outcome.action != "submit":
            self.skips[outcome.reason or "unknown"] += 1
            return
        shares = {hotkey: share for hotkey, share in outcome.shares.items() if hotkey != outcome.burn}
        self.burnt += outcome.shares.get(outcome.burn or "", 0.0)
        self.uniform += outcome.uniform
        if self.submits:
            self.moved, self.steps = self.moved + measure_distance(self.last, shares), self.steps + 1
        self.submits += 1
        self.last = shares
        for hotkey, share in shares.items():
            self.sums[hotkey] = self.sums.get(hotkey, 0.0) + share

    @property
    def turnover(self) -> float | None:
        """The mean share of the weights that goes elsewhere from one vector to the next."""
        return self.moved / self.steps if self.steps else None

    def as_json(self) -> dict[str, Any]:
        return {
            "submits": self.submits,
            "skips": dict(self.skips),
            "modes": dict(self.modes),
            "uniform": self.uniform,
            "oldest_blocks": self.oldest,
            "turnover": self.turnover,
        }


@dataclass(frozen=True, slots=True)
class Turn:
    """A weigh-in that decides otherwise."""

    at: float
    before: str
    after: str


@dataclass(slots=True)
class WeighTally:
    """What is kept of all weigh-ins. `counted` are those at which at least one side pays somebody."""

    weigh_ins: int = 0
    made: int = 0
    differ: int = 0
    counted: int = 0
    apart: float = 0.0
    before: Vectors = field(default_factory=Vectors)
    after: Vectors = field(default_factory=Vectors)
    uids: dict[str, int] = field(default_factory=dict)
    decisions: Counter[tuple[str, str]] = field(default_factory=Counter)
    first_turn: Turn | None = None
    first_mode: dict[str, float] = field(default_factory=dict)
    last_after: WeighInOutcome | None = None

    def note(self, before: WeighInOutcome, after: WeighInOutcome) -> None:
        self.last_after = after
        self.weigh_ins += 1
        self.made += before.made
        self.differ += before.digest != after.digest or before.mode != after.mode
        self.uids.update({hotkey: uid for hotkey, uid in before.uids.items() if hotkey != before.burn})
        self.before.note(before)
        self.after.note(after)
        self.first_mode.setdefault(after.mode, after.at)
        if "submit" in (before.action, after.action):
            self.counted += 1
            self.apart += measure_distance(before.shares, after.shares)
        old, new = name_decision(before), name_decision(after)
        if old != new:
            self.decisions[old, new] += 1
            self.first_turn = self.first_turn or Turn(before.at, old, new)

    def as_json(self) -> dict[str, Any]:
        return {
            "weigh_ins": self.weigh_ins,
            "made": self.made,
            "differ": self.differ,
            "moved": self.apart / self.counted if self.counted else 0.0,
            "before": self.before.as_json(),
            "after": self.after.as_json(),
            "decisions": [
                {"before": old, "after": new, "weigh_ins": count} for (old, new), count in self.decisions.items()
            ],
        }


def name_decision(outcome: WeighInOutcome) -> str:
    """
    >>> skip = WeighInOutcome(1, "r", "m", 0.0, "d", "NORMAL", 0, "skip", "all_zero", False, {}, {})
    >>> name_decision(skip)
    'skip: all_zero'
    """
    said = f"skip: {outcome.reason}" if outcome.action == "skip" else "submit"
    said = f"{said}, everybody alike" if outcome.uniform else said
    return said if outcome.mode == "NORMAL" else f"{said} ({outcome.mode})"


def measure_distance(one: Shares, other: Shares) -> float:
    """The share of everything that is with somebody else: half the sum of differences; 1 where one of them is empty.

    >>> measure_distance({"a": 0.5, "b": 0.5}, {"a": 1.0}), measure_distance({"a": 1.0}, {})
    (0.5, 1.0)
    """
    if not one or not other:
        return float(bool(one) != bool(other))
    return sum(abs(one.get(hotkey, 0.0) - other.get(hotkey, 0.0)) for hotkey in one.keys() | other.keys()) / 2
