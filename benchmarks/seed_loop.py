"""The baseline: a dot product for every pair of segments, as the original reward document describes it."""

import numpy as np
from numpy.typing import NDArray


def reward_by_pairs(vectors: NDArray[np.float64] | list[list[float]], chunk_of: list[int]) -> float:
    """Mean similarity within chunks less mean similarity between them, pair by pair."""
    within: list[float] = []
    between: list[float] = []
    for i in range(len(vectors) - 1):
        for j in range(i + 1, len(vectors)):
            product = np.dot(np.asarray(vectors[i]), np.asarray(vectors[j]))
            (within if chunk_of[i] == chunk_of[j] else between).append(product)
    return float((np.mean(within) if within else 0.0) - (np.mean(between) if between else 0.0))
