"""Floats become integers before they are recorded: one millionth is the unit of every vector."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

MILLION = 1_000_000


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
