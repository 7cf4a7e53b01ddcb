"""How sure a moving average is: one standard error, from nothing but its own course.

An average that moved from s₀ to s₁ with weight α took in the value (s₁ − (1 − α) s₀) / α. The scatter of these values,
and the weight that each still has in the average, give the average's own. It holds as far as rounds are alike; a miner
that has just changed scatters more than it will.
"""

import math
from collections.abc import Sequence

LEAST_VALUES = 3
"""Fewer rounds tell nothing about scatter."""
NOISE = 1e-12
"""So little is rounding, not scatter."""


def spread_average(values: Sequence[float], alphas: Sequence[float]) -> float | None:
    """One standard error of the average that took `values` in, oldest first, each with its weight of `alphas`.

    >>> spread_average([1.0, 1.0, 1.0], [0.3] * 3), spread_average([1.0, 2.0], [0.3] * 2)
    (0.0, None)
    >>> round(spread_average([0.0, 2.0] * 50, [0.5] * 100), 3)
    0.58
    """
    if len(values) < LEAST_VALUES:
        return None
    left, squares = 1.0, 0.0
    for alpha in reversed(alphas):
        squares += (alpha * left) ** 2
        left *= 1 - alpha
    mean = math.fsum(values) / len(values)
    scatter = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    found = math.sqrt(scatter * squares)
    return found if found > NOISE * max(map(abs, values)) else 0.0


def recover_values(course: Sequence[float], alphas: Sequence[float]) -> list[float]:
    """What an average took in on its `course`: one value less, since where it began is not known to be one.

    >>> recover_values([2.0, 2.5, 1.25], [0.25, 0.5])
    [4.0, 0.0]
    """
    steps = zip(course, course[1:], alphas, strict=False)
    return [(after - (1 - alpha) * before) / alpha for before, after, alpha in steps]


def spread_course(course: Sequence[float], alpha: float) -> float | None:
    """One standard error of the last of `course`, the standings of a moving average with one weight.

    >>> spread_course([3.0, 3.0, 3.0, 3.0], 0.15), spread_course([3.0, 2.0], 0.15)
    (0.0, None)
    """
    alphas = [alpha] * (len(course) - 1)
    return spread_average(recover_values(course, alphas), alphas)
