"""Quantisation: floats become integer millionths before they are recorded."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weighbeam.core.errors import require

MILLION = 1_000_000
TRILLION = MILLION * MILLION
BEYOND = TRILLION // 100_000


def to_millionths(values: ArrayLike) -> NDArray[np.int64]:
    """The integer nearest to x · 10⁶, halves to even.

    >>> to_millionths([0.6, -0.0000005, 0.0000015]).tolist()
    [600000, 0, 2]
    """
    return np.rint(np.asarray(values, dtype=np.float64) * MILLION).astype(np.int64)


def unit_millionths(vectors: NDArray[np.float64]) -> NDArray[np.int32]:
    """Scale each row to length 1 in float64 and quantise it; a zero row stays zero.

    A row's result depends on that row alone, never on the rows around it.

    >>> unit_millionths(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[600000, 800000], [0, 0]]
    """
    lengths = np.sqrt(np.add.reduce(vectors * vectors, axis=1))
    lengths[lengths == 0.0] = 1.0
    return to_millionths(vectors / lengths[:, None]).astype(np.int32)


def to_micro(dot: int) -> int:
    """The dot product of two unit vectors in millionths, as a similarity in millionths, halves to even.

    Unit vectors rounded to millionths are not quite of length 1: up to 1e-5 beyond ±1 counts as ±1.

    >>> [to_micro(dot) for dot in (950_000_500_000, 950_001_500_000, -500_000, 10**12 + 9_000_000)]
    [950000, 950002, 0, 1000000]
    """
    remedy = "give the product of two unit vectors in millionths"
    require(abs(dot) <= TRILLION + BEYOND, "bad_similarity", f"{dot / TRILLION} is not between -1 and 1", remedy)
    whole, rest = divmod(dot, MILLION)
    up = 2 * rest > MILLION or (2 * rest == MILLION and whole % 2 == 1)
    return max(-MILLION, min(MILLION, whole + up))


def softmax_millionths(logits: Sequence[float]) -> list[int]:
    """Probabilities in millionths that add up to exactly one million.

    Each is rounded down; the units left over go to the largest remainders, the first of equals first. A logit of
    minus infinity has no chance at all.

    >>> softmax_millionths([0.0, 0.0, 0.0])
    [333334, 333333, 333333]
    >>> softmax_millionths([-math.inf, 0.0, -math.inf])
    [0, 1000000, 0]
    """
    highest = max(logits)
    powers = [math.exp(logit - highest) for logit in logits]
    exact = [power / math.fsum(powers) * MILLION for power in powers]
    shares = [math.floor(value) for value in exact]
    order = sorted(range(len(exact)), key=lambda i: (shares[i] - exact[i], i))
    for i in order[: MILLION - sum(shares)]:
        shares[i] += 1
    return shares
