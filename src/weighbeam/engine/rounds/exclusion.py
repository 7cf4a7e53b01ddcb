"""Nobody to ask: which rule excluded how many of the registered, and what helps."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.rules.eligible import Reason

RULES = {
    "low_stake": "below the mechanism's min_stake_rao",
    "not_serving": "without an endpoint",
    "known_validator": "on the list of known validators",
    "permit": "with a validator permit",
    "high_stake": "with 999 TAO or more, which counts as a validator",
}
"""Miners that each rule excludes, in order of display."""
REMEDIES = {
    "low_stake": "lower min_stake_rao, or wait until miners hold that stake",
    "not_serving": "wait until miners serve",
    "known_validator": "check validator.known_validators",
}


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Number of other neurons that each rule excluded from being asked, and number left."""

    counts: Mapping[str, int] = field(default_factory=dict)
    left: int = 0

    def __str__(self) -> str:
        """
        >>> print(Exclusion({"not_serving": 1, "low_stake": 4}, 2))
        of 7 other neurons: 4 below the mechanism's min_stake_rao, 1 without an endpoint, 2 left
        """
        told = [f"{self.counts[rule]} {words}" for rule, words in RULES.items() if self.counts.get(rule)]
        total = sum(self.counts.values()) + self.left
        return f"of {total} other neurons: " + ", ".join([*told, f"{self.left} left"])

    def explain(self, mechanism: str) -> WeighbeamError:
        """`too_few_miners`, with what helps against each rule that excluded somebody.

        >>> Exclusion({"not_serving": 1, "low_stake": 4}).explain("inference").remedy
        'lower min_stake_rao, or wait until miners hold that stake; wait until miners serve'
        >>> Exclusion({"permit": 1}, 2).explain("inference").remedy
        'wait until more miners register and serve'
        """
        remedies = [remedy for rule, remedy in REMEDIES.items() if self.counts.get(rule)]
        remedy = "; ".join(remedies) or "wait until more miners register and serve"
        return WeighbeamError("too_few_miners", f"no miner to ask for {mechanism}; {self}", remedy)


def count_excluded(excluded: Iterable[Reason], low_stake: int, left: int) -> Exclusion:
    """Count miners excluded by the serving filter and the mechanism's stake, without ourselves."""
    counts = Counter[str](reason for reason in excluded if reason != "self")
    if low_stake:
        counts["low_stake"] = low_stake
    return Exclusion(dict(counts), left)
