"""Which answers say the same, and which of these clusters speaks for the round (spec § 7)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanisms.inference.linkage import link_average
from weighbeam.mechanisms.inference.params import InferenceParams


def find_clusters(similarity: NDArray[np.float64], params: InferenceParams) -> list[list[int]]:
    """Clusters of all these answers; one of them all if clustering is off."""
    if params.clustering:
        return link_average(similarity, params.cluster_distance)
    return [list(range(len(similarity)))] if len(similarity) else []


def find_dominant(
    clusters: Sequence[Sequence[int]], quality: NDArray[np.float64], vote: NDArray[np.float64]
) -> Sequence[int]:
    """The cluster with the largest Σ quality · vote, then mean quality, then Σ vote, then the smallest number.

    >>> find_dominant([[0], [1, 2]], np.array([0.9, 0.5, 0.5]), np.array([1.0, 0.5, 0.5]))
    [0]
    """
    if not clusters:
        return ()
    label = np.repeat(np.arange(len(clusters)), [len(cluster) for cluster in clusters])
    members = np.concatenate([np.asarray(cluster) for cluster in clusters])
    own, votes = quality[members], vote[members]
    weight = np.bincount(label, own * votes)
    mean = np.bincount(label, own) / np.bincount(label)
    total = np.bincount(label, votes)
    first = np.array([cluster[0] for cluster in clusters])
    order = np.lexsort((first, *(-np.round(values, 9) for values in (total, mean, weight))))
    return clusters[int(order[0])]
