"""Weigh-ins of one mechanism on two sides: what was decided, how much of the weights went elsewhere, and to whom."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from weighbeam.lab.backtest.outcome import WeighInOutcome

Shares = Mapping[str, float]


@dataclass(slots=True)
class WeightVectors:
    """Of one side: what is in force after each weigh-in, summed, and how far each vector was from the one before.

    A skip leaves the weights before it in force; before the first, nobody is known to be paid. `last` is what is in
    force in the end without what is burnt; `earned` are the vectors that pay somebody for an answer.
    """

    sums: dict[str, float] = field(default_factory=dict)
    in_force: Shares = field(default_factory=dict)
    last: Shares = field(default_factory=dict)
    modes: Counter[str] = field(default_factory=Counter)
    skips: Counter[str] = field(default_factory=Counter)
    submits: int = 0
    uniform: int = 0
    earned: int = 0
    burning: float = 0.0
    burnt: float = 0.0
    moved: float = 0.0
    steps: int = 0
    oldest: int = 0

    def note(self, outcome: WeighInOutcome) -> None:
        self.modes[outcome.mode] += 1
        self.oldest = max(self.oldest, outcome.blocks)
        if outcome.action == "submit":
            self._note_vector(outcome)
        else:
            self.skips[outcome.reason or "unknown"] += 1
        self.burnt += self.burning
        for hotkey, share in self.last.items():
            self.sums[hotkey] = self.sums.get(hotkey, 0.0) + share

    def begin(self, outcome: WeighInOutcome) -> None:
        """Set the weights in force before the first compared weigh-in."""
        self.in_force = outcome.shares
        self.burning = outcome.shares.get(outcome.burn or "", 0.0)
        self.last = {hotkey: share for hotkey, share in outcome.shares.items() if hotkey != outcome.burn}

    def _note_vector(self, outcome: WeighInOutcome) -> None:
        previous = self.last
        self.begin(outcome)
        if self.submits:
            self.moved, self.steps = self.moved + measure_distance(previous, self.last), self.steps + 1
        self.submits += 1
        self.uniform += outcome.uniform
        self.earned += not outcome.uniform and any(share > 0 for share in self.last.values())

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
            "earned": self.earned,
            "oldest_blocks": self.oldest,
            "turnover": self.turnover,
        }


@dataclass(frozen=True, slots=True)
class ChangedDecision:
    """A weigh-in that decides otherwise."""

    at: float
    before: str
    after: str


@dataclass(slots=True)
class WeighTally:
    """Summary of all weigh-ins. `counted` are those after which at least one side's weights are in force, and
    `unknown` those of them after which the other side's are still from before the journal; `apart` sums how far the two
    sides are from each other, `farthest` is the most of it and when."""

    weigh_ins: int = 0
    made: int = 0
    differ: int = 0
    counted: int = 0
    unknown: int = 0
    apart: float = 0.0
    farthest: tuple[float, float] = (0.0, 0.0)
    before: WeightVectors = field(default_factory=WeightVectors)
    after: WeightVectors = field(default_factory=WeightVectors)
    uids: dict[str, int] = field(default_factory=dict)
    decisions: Counter[tuple[str, str]] = field(default_factory=Counter)
    first_turn: ChangedDecision | None = None
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
        self._measure(before.at)
        old, new = name_decision(before), name_decision(after)
        if old != new:
            self.decisions[old, new] += 1
            self.first_turn = self.first_turn or ChangedDecision(before.at, old, new)

    def _measure(self, at: float) -> None:
        """Compare the weights in force on both sides."""
        old, new = self.before.in_force, self.after.in_force
        if not old and not new:
            return
        moved = measure_distance(old, new)
        self.counted, self.apart = self.counted + 1, self.apart + moved
        self.unknown += not old or not new
        self.farthest = max(self.farthest, (moved, at), key=lambda one: one[0])

    def as_json(self) -> dict[str, Any]:
        return {
            "weigh_ins": self.weigh_ins,
            "made": self.made,
            "differ": self.differ,
            "unknown": self.unknown,
            "moved": self.apart / self.counted if self.counted else 0.0,
            "moved_most": {"moved": self.farthest[0], "at": self.farthest[1]} if self.apart else None,
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
    # fsum: the order of a set depends on the process, and so would the last digit of a plain sum.
    return math.fsum(abs(one.get(hotkey, 0.0) - other.get(hotkey, 0.0)) for hotkey in one.keys() | other.keys()) / 2
