"""What an attack is worth: profit beside honest work, how often it shows, how often honest miners look like it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trial:
    """One seeded season of an attack.

    `fair` is what an honest identity earns on average where nobody attacks. `signs` says in which of its own turns
    (0 is the first) something was held against an identity; `turns` how often it was asked. `standing` is turned so
    that higher is better.
    """

    seed: int
    earned: Mapping[str, float]
    attackers: frozenset[str]
    honest: frozenset[str]
    fair: float
    signs: Mapping[str, tuple[int, ...]]
    turns: Mapping[str, int]
    skill: Mapping[str, float]
    standing: Mapping[str, float]
