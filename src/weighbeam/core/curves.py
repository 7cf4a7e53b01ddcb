"""Pay by rank: a geometric curve whose equals share, and its integer form on chain."""

import math
from collections.abc import Sequence

from weighbeam.core.ties import tie_runs

U16_MAX = 65535


def share_geometric(scores: Sequence[float], ratio: float) -> list[float]:
    """Raw weight ratio⁰, ratio¹, … by score ascending; equal scores share the mean of theirs.

    >>> share_geometric([1.0, 0.5, 1.0, 3.0], 0.5)
    [0.375, 1.0, 0.375, 0.125]
    """
    raw = [0.0] * len(scores)
    for first, equals in tie_runs(scores):
        shared = math.fsum(ratio ** (first + i) for i in range(len(equals))) / len(equals)
        for i in equals:
            raw[i] = shared
    return raw


def normalise(raw: Sequence[float]) -> list[float]:
    """Weights that sum to 1, or all zero.

    >>> normalise([1.0, 3.0]), normalise([0.0])
    ([0.25, 0.75], [0.0])
    """
    total = math.fsum(raw)
    return [value / total if total else 0.0 for value in raw]


def to_u16(raw: Sequence[float]) -> list[int]:
    """⌊raw / largest · 65535 + ½⌋: the largest becomes 65535.

    >>> to_u16([1.0, 0.5, 0.0])
    [65535, 32768, 0]
    """
    largest = max(raw, default=0.0)
    return [math.floor(value / largest * U16_MAX + 0.5) if largest else 0 for value in raw]


def ramp(x: float, low: float, high: float) -> float:
    """0 up to `low`, 1 from `high`, straight between.

    >>> ramp(0.15, 0.1, 0.2), ramp(-1, 0, 1), ramp(2, 0, 1)
    (0.4999999999999999, 0.0, 1.0)
    """
    return min(1.0, max(0.0, (x - low) / (high - low)))
