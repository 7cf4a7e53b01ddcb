"""How a result of the bench differs from what is expected of it.

It is *red* where an attack gains, hides better, honest miners are accused more often or ranks tell less, each by more
than its interval and a margin; so is an attack that is missing or that nobody has looked at, and a season that pays
nobody. Intervals are wide over few seeds, but the seeds are the same ones: nothing may move by more than some luck.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from weighbeam.lab.attack.expectations import Expected, Measure
from weighbeam.lab.simulate.measure import AttackOutcome, Interval
from weighbeam.lab.trials.bench import BenchResult


@dataclass(frozen=True, slots=True)
class ComparisonRule:
    """Which way a measure gets worse; how far beyond its interval it may, and how far from its value at most: by
    `slack`, or a quarter of it."""

    measure: Measure
    worse: Literal["higher", "lower"]
    margin: float
    worse_said: str
    better_said: str
    slack: float

    def bound(self, expected: Interval) -> tuple[float, float]:
        """Between which values it is as expected.

        >>> ComparisonRule("detection", "lower", 0.1, "", "", slack=0.25).bound(Interval(1.0, 0.34, 1.0))
        (0.75, 1.1)
        """
        slack = max(self.slack, abs(expected.value) / 4)
        low, high = expected.low - self.margin, expected.high + self.margin
        return max(low, expected.value - slack), min(high, expected.value + slack)


RULES = (
    ComparisonRule("profit", "higher", 0.1, "it earns more", "it earns less", slack=0.2),
    ComparisonRule("detection", "lower", 0.1, "it is detected less often", "it is detected more often", slack=0.25),
    ComparisonRule(
        "false_positives",
        "higher",
        0.05,
        "more honest miners are accused",
        "fewer honest miners are accused",
        slack=0.15,
    ),
    ComparisonRule("tau", "lower", 0.05, "ranks say less about skill", "ranks say more about skill", slack=0.15),
)


@dataclass(frozen=True, slots=True)
class AttackFinding:
    """One difference; what is not red is a note."""

    attack: str
    red: bool
    text: str


def compare(benched: BenchResult, expected: Expected) -> tuple[AttackFinding, ...]:
    """By attack; what is as expected is not mentioned."""
    found = []
    for name in sorted(expected.keys() | benched.outcomes.keys()):
        if name not in benched.outcomes:
            found.append(AttackFinding(name, True, "expected, but no longer in the catalogue"))
        elif name not in expected:
            found.append(AttackFinding(name, True, "new: it has no expectation yet"))
        else:
            found += compare_outcome(name, benched.outcomes[name], expected[name])
    return tuple(found)


def compare_outcome(name: str, outcome: AttackOutcome, expected: Mapping[Measure, Interval]) -> list[AttackFinding]:
    """
    >>> flat = Interval(0.0, 0.0, 0.0)
    >>> before = dict.fromkeys(("profit", "detection", "false_positives", "tau"), flat)
    >>> outcome = AttackOutcome(Interval(0.9, 0.8, 1.0), flat, flat, flat, flat, (0,))
    >>> compare_outcome("inference/copycat", outcome, before)[0].text
    'it earns more: profit 0.9, expected 0 (0 to 0)'
    """
    found = []
    if outcome.unpaid:
        found.append(AttackFinding(name, True, f"in {outcome.unpaid:.0%} of the seasons nobody is paid at all"))
    for rule in RULES:
        value, before = getattr(outcome, rule.measure).value, expected[rule.measure]
        low, high = rule.bound(before)
        if not low <= value <= high:
            red = (value > high) == (rule.worse == "higher")
            said = rule.worse_said if red else rule.better_said
            measure = rule.measure.replace("_", " ")
            told = f"{said}: {measure} {value:.3g}, expected {before.value:.3g} ({before.low:.3g} to {before.high:.3g})"
            found.append(AttackFinding(name, red, told))
    return found
