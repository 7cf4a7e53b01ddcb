"""Statistics of scores and shares: averages and their errors, ranks, curves, concentration, correlation,
apportionment.

An average that moved from s₀ to s₁ with weight α took in the value (s₁ − (1 − α) s₀) / α. The scatter of these values,
and the weight that each still has in the average, give the average's own. It holds as far as rounds are alike; a miner
that has just changed scatters more than it will.

Negative amounts have no share; of nothing, nobody has one.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.canonical import seeded_digest


def tie_runs(values: Sequence[float]) -> Iterator[tuple[int, list[int]]]:
    """For each distinct value, ascending: the position of its first place and the indices that hold it.

    >>> list(tie_runs([0.5, 0.1, 0.5]))
    [(0, [1]), (1, [0, 2])]
    """
    first = 0
    order = sorted(range(len(values)), key=values.__getitem__)
    for _, run in groupby(order, key=values.__getitem__):
        equals = list(run)
        yield first, equals
        first += len(equals)


def move_average(previous: float, new: float, alpha: float) -> float:
    """`alpha · new + (1 − alpha) · previous`, in float64 and in exactly this form.

    >>> move_average(2.0, 4.0, 0.25)
    2.5
    """
    return alpha * new + (1 - alpha) * previous


MIN_VALUES = 3
"""Fewer rounds tell nothing about scatter."""
ROUNDING_NOISE = 1e-12
"""So little is rounding, not scatter."""


def spread_average(values: Sequence[float], alphas: Sequence[float]) -> float | None:
    """One standard error of the average that took `values` in, oldest first, each with its weight of `alphas`.

    >>> spread_average([1.0, 1.0, 1.0], [0.3] * 3), spread_average([1.0, 2.0], [0.3] * 2)
    (0.0, None)
    >>> round(spread_average([0.0, 2.0] * 50, [0.5] * 100), 3)
    0.58
    """
    if len(values) < MIN_VALUES:
        return None
    left, squares = 1.0, 0.0
    for alpha in reversed(alphas):
        squares += (alpha * left) ** 2
        left *= 1 - alpha
    mean = math.fsum(values) / len(values)
    scatter = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    found = math.sqrt(scatter * squares)
    return found if found > ROUNDING_NOISE * max(map(abs, values)) else 0.0


def recover_values(course: Sequence[float], alphas: Sequence[float]) -> list[float]:
    """The values an average took in on its `course`: one fewer, because its start may not be a value.

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


Ties = Literal["average", "best"]


def place_values(values: Sequence[float], ties: Ties = "average") -> list[float]:
    """Places from 0, highest value first; equals share the average (or the best) of their places.

    >>> place_values([0.9, 0.5, 0.5, 0.1])
    [0.0, 1.5, 1.5, 3.0]
    >>> place_values([0.9, 0.5, 0.5, 0.1], ties="best")
    [0.0, 1.0, 1.0, 3.0]
    """
    places = [0.0] * len(values)
    for first, equals in tie_runs([-value for value in values]):
        shared = float(first) if ties == "best" else first + (len(equals) - 1) / 2
        for i in equals:
            places[i] = shared
    return places


def order_standings(scores: Mapping[str, float | None], seed: str | int) -> list[str]:
    """Hotkeys by score ascending, never-ranked (null or negative) last, equals by seeded digest.

    >>> order_standings({"a": None, "b": 2.0, "c": 0.5}, "s")
    ['c', 'b', 'a']
    """

    def rank_key(hotkey: str) -> tuple[bool, float, str]:
        score = scores[hotkey]
        ranked = score is not None and score >= 0
        return not ranked, score if ranked and score is not None else 0.0, seeded_digest(seed, hotkey)

    return sorted(scores, key=rank_key)


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


def gini(amounts: Sequence[float]) -> float:
    """0 if all have the same, towards 1 the fewer have it all; among n it is at most 1 − 1/n.

    >>> gini([1, 1, 1, 1]), gini([0, 0, 0, 1]), gini([])
    (0.0, 0.75, 0.0)
    """
    ordered = sorted(max(0.0, amount) for amount in amounts)
    count, total = len(ordered), math.fsum(ordered)
    if not total:
        return 0.0
    weighted = math.fsum((2 * place - count - 1) * amount for place, amount in enumerate(ordered, 1))
    return min(1 - 1 / count, max(0.0, weighted / (count * total)))


def top_share(amounts: Sequence[float], limit: int) -> float:
    """Share of the total that the `limit` largest hold together.

    >>> top_share([1, 2, 5], 1), top_share([1, 2, 5], 3), top_share([], 1)
    (0.625, 1.0, 0.0)
    """
    ordered = sorted((max(0.0, amount) for amount in amounts), reverse=True)
    total = math.fsum(ordered)
    return min(1.0, math.fsum(ordered[:limit]) / total) if total else 0.0


def effective_number(amounts: Sequence[float]) -> float:
    """How many equals would be as concentrated: one over the sum of squared shares.

    >>> effective_number([1, 1, 1, 1]), effective_number([3, 0]), effective_number([])
    (4.0, 1.0, 0.0)
    """
    positive = [amount for amount in amounts if amount > 0]
    total = math.fsum(positive)
    if not total:
        return 0.0
    return min(float(len(positive)), max(1.0, 1 / math.fsum((amount / total) ** 2 for amount in positive)))


Floats = NDArray[np.float64]


def kendall_tau(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Kendall's tau-b, which takes ties into account; None where one of them orders nothing.

    >>> kendall_tau([1, 2, 3], [1, 2, 3]), kendall_tau([1, 2, 3], [3, 2, 1]), kendall_tau([1, 1], [1, 2])
    (1.0, -1.0, None)
    """
    values, others = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    agreeing = first = second = 0.0
    for i in range(len(values)):
        a, b = np.sign(values[i] - values[i + 1 :]), np.sign(others[i] - others[i + 1 :])
        agreeing, first, second = agreeing + float(a @ b), first + float(a @ a), second + float(b @ b)
    return _bound(agreeing / (first * second) ** 0.5) if first and second else None


def spearman(one: Sequence[float], other: Sequence[float]) -> float | None:
    """The correlation of places, equals sharing theirs; None where one of them orders nothing.

    >>> spearman([10, 20, 30], [1, 2, 9]), spearman([1, 2, 3], [2, 1, 3]), spearman([], [])
    (1.0, 0.5, None)
    """
    a, b = _centre(place_values(one)), _centre(place_values(other))
    size = float(a @ a) * float(b @ b)
    return _bound(float(a @ b) / size**0.5) if size else None


def _centre(places: Sequence[float]) -> Floats:
    values = np.asarray(places, dtype=np.float64)
    return values - values.mean() if len(values) else values


def _bound(value: float) -> float:
    return max(-1.0, min(1.0, value))


def parse_decimal(number: float) -> Fraction:
    """The decimal a person wrote, not the binary number nearest to it.

    >>> parse_decimal(0.1), parse_decimal(1e-05)
    (Fraction(1, 10), Fraction(1, 100000))
    """
    return Fraction(repr(number))


def round_half_up(number: Fraction) -> int:
    """
    >>> round_half_up(Fraction(5, 2)), round_half_up(Fraction(9, 4))
    (3, 2)
    """
    return math.floor(number + Fraction(1, 2))


def apportion(ideals: Sequence[Fraction]) -> list[int]:
    """Integers with the sum of the ideals, which must be whole; equal remainders go to who comes first.

    >>> apportion([Fraction(5, 2), Fraction(5, 4), Fraction(5, 4)])
    [3, 1, 1]
    """
    units = [math.floor(ideal) for ideal in ideals]
    left = int(sum(ideals)) - sum(units)
    neediest = sorted(range(len(ideals)), key=lambda i: units[i] - ideals[i])
    for i in neediest[:left]:
        units[i] += 1
    return units
