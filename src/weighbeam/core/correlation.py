"""How alike two orders of the same things are: 1 if they are the same, −1 if one is the other reversed."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.ranking import place_values

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
