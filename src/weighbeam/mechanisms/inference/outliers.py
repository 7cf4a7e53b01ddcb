"""Who stands apart, and who says too little (spec § 6)."""

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanisms.inference.compare import EQUAL
from weighbeam.mechanisms.inference.params import InferenceParams

MOST_NEIGHBOURS = 20
LEAST_REACH = 1e-12


def measure_lof(similarity: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
    """The local outlier factor of each of three points or more; all points within the k-distance are neighbours.

    >>> measure_lof(np.full((4, 4), 0.5), 0.35).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    m = len(similarity)
    k = max(2, min(MOST_NEIGHBOURS, m // 2))
    distance = np.maximum(floor, np.sqrt(np.maximum(0.0, 2 - 2 * similarity)))
    np.fill_diagonal(distance, np.inf)
    k_distance = np.partition(distance, k - 1, axis=1)[:, k - 1]
    point, neighbour = np.nonzero(distance <= k_distance[:, None] + EQUAL)
    count = np.bincount(point)
    reach = np.bincount(point, np.maximum(distance[point, neighbour], k_distance[neighbour])) / count
    density = 1 / np.maximum(reach, LEAST_REACH)
    lof: NDArray[np.float64] = np.bincount(point, density[neighbour]) / count / density
    return lof


def find_outliers(lof: NDArray[np.float64], quality: NDArray[np.float64], params: InferenceParams) -> NDArray[np.bool_]:
    """Far away and of less than typical quality: a good answer is never removed for being different."""
    protecting = min(params.high_quality, float(np.median(quality)))
    outliers: NDArray[np.bool_] = (lof - params.lof_limit > EQUAL) & (quality - protecting < -EQUAL)
    return outliers


def least_words(words: NDArray[np.int64], sensitivity: float) -> float:
    """How many words an answer needs beside these. One giant counts as twice the median.

    >>> least_words(np.array([40, 60, 50, 9000]), 0.5)
    32.5
    """
    typical = float(np.minimum(words, 2 * np.median(words)).mean())
    return typical * (1 - sensitivity)
