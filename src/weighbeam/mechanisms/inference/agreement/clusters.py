"""Clusters of answers that say the same, by exact average linkage, and the dominant one (spec § 7).

Cosines are in millionths, so sums over pairs of them are whole numbers that float64 adds without error; a merge is the
sum of two rows. Each row knows its nearest later row. A mean lies between what it is the mean of, so after a merge the
distance a row knew is still a lower bound: it is measured again only when no other row is closer. A round of n answers
so costs about n² and not n³.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.inference.params import InferenceParams


def label_components(linked: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Connected components of a symmetric relation: each one's smallest member.

    >>> label_components(np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]], dtype=bool)).tolist()
    [0, 1, 0]
    """
    label = np.full(len(linked), -1, dtype=np.intp)
    alone = linked.sum(axis=1) - linked.diagonal() == 0
    label[alone] = np.flatnonzero(alone)
    while (label < 0).any():
        start = int((label < 0).argmax())
        label[start] = start
        reached = [start]
        while reached and (unmet := label < 0).any():
            found = np.flatnonzero(linked[reached.pop()] & unmet)
            label[found] = start
            reached += found.tolist()
    return label


def split_components(linked: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """The members of each component.

    >>> [members.tolist() for members in split_components(np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]], dtype=bool))]
    [[0, 2], [1]]
    """
    label = label_components(linked)
    order = np.argsort(label, kind="stable")
    starts = np.flatnonzero(np.diff(label[order], prepend=-1))
    return np.split(order, starts[1:]) if len(order) else []


def take_submatrix(matrix: NDArray[Any], numbers: NDArray[np.intp]) -> NDArray[Any]:
    """Rows and columns of these numbers, ascending; all of them are the matrix itself, not a copy."""
    if len(numbers) == len(matrix):
        return matrix
    part: NDArray[Any] = matrix[np.ix_(numbers, numbers)]
    return part


UNIT = 1e9
NEVER = np.inf
SNAP = 1e-6
SPARSE = 0.7


def link_average(similarity: NDArray[np.float64], limit: float) -> list[list[int]]:
    """Clusters of numbers 0 … n − 1, each ascending, by their first: merged while closer than `limit`.

    Distance is 1 − mean cosine over all cross pairs, rounded to 9 decimals; of equals the pair with the smaller first,
    then second, smallest number is merged. Where no pair is close no mean is, where all are every mean is: only what
    lies between is linked step by step.

    >>> link_average(np.array([[1, 0.9, 0.1], [0.9, 1, 0.3], [0.1, 0.3, 1]]), 0.5)
    [[0, 1], [2]]
    """
    sums = _to_millionths(similarity)
    close = sums > (UNIT - limit * UNIT + 1.0) * (MILLION / UNIT)
    np.fill_diagonal(close, True)
    clusters: list[list[int]] = []
    for members in split_components(close):
        if len(members) == 1 or take_submatrix(close, members).all():
            clusters.append(members.tolist())
        else:
            clusters += [members[cluster].tolist() for cluster in _link(take_submatrix(sums, members), limit)]
    return sorted(clusters)


def _link(sums: NDArray[np.float64], limit: float) -> list[list[int]]:
    links = _Links(sums)
    members = [[number] for number in range(len(sums))]
    while (pair := links.closest(limit)) is not None:
        first, second = pair
        links.merge(first, second)
        members[first] += members[second]
        members[second] = []
        if np.count_nonzero(links.sizes) < SPARSE * len(members):
            links.shrink()
            members = [cluster for cluster in members if cluster]
    return [sorted(cluster) for cluster in members if cluster]


class _Links:
    """Sums of cosines and distances between clusters; a nearest is the number of a later one, −1 if unsure."""

    def __init__(self, sums: NDArray[np.float64]) -> None:
        self.sums = sums
        self.sizes = np.ones(len(sums))
        self.distances = _measure(sums, 1.0)
        self.distances[np.tri(len(sums), dtype=bool)] = NEVER
        self.nearest = self.distances.argmin(axis=1)
        self.distance = self.distances.min(axis=1)

    def shrink(self) -> None:
        """Forget merged rows, so that what is left fits the cache again."""
        kept = np.flatnonzero(self.sizes)
        place = np.append(np.cumsum(self.sizes > 0) - 1, -1)
        self.sums, self.distances = self.sums[np.ix_(kept, kept)], self.distances[np.ix_(kept, kept)]
        self.sizes, self.distance, self.nearest = self.sizes[kept], self.distance[kept], place[self.nearest[kept]]

    def closest(self, limit: float) -> tuple[int, int] | None:
        """The pair to merge next."""
        while True:
            first = int(self.distance.argmin())
            if not limit * UNIT - self.distance[first] > 1.0:
                return None
            if self.nearest[first] >= 0:
                return first, int(self.nearest[first])
            self._look(first)

    def merge(self, first: int, second: int) -> None:
        row = self.sums[first]
        row += self.sums[second]
        row[second] = -NEVER
        self.sums[:, first] = row
        self.sums[:, second] = -NEVER
        self.sizes[first] += self.sizes[second]
        self.sizes[second] = 0
        apart = _measure(row, self.sizes[first] * self.sizes)
        self.distances[first, first + 1 :] = apart[first + 1 :]
        self.distances[:first, first] = apart[:first]
        self.distances[:second, second] = NEVER
        self.distance[second] = NEVER
        pointing = self.nearest[:second]
        pointing[(pointing == first) | (pointing == second)] = -1
        self._look(first)
        self._meet(first, apart[:first])

    def _meet(self, first: int, apart: NDArray[np.float64]) -> None:
        """Earlier rows as far from the grown cluster as from their nearest now have it for their nearest."""
        nearest = self.nearest[:first]
        nearest[(apart <= self.distance[:first]) & (nearest > first)] = first

    def _look(self, row: int) -> None:
        """Find the nearest later cluster."""
        found = int(self.distances[row].argmin())
        self.nearest[row], self.distance[row] = found, self.distances[row, found]


def _to_millionths(similarity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosines in millionths, whole where they are within rounding of it."""
    scaled = similarity * MILLION
    whole = np.rint(scaled)
    scaled -= whole
    if scaled.max(initial=0.0) < SNAP and scaled.min(initial=0.0) > -SNAP:
        return whole
    return np.where(np.abs(scaled) < SNAP, whole, similarity * MILLION)


def _measure(sums: NDArray[np.float64], pairs: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Distances in billionths, whole."""
    distance: NDArray[np.float64] = sums * (-UNIT / MILLION)
    distance /= np.maximum(pairs, 1.0)
    distance += UNIT
    return np.rint(distance, out=distance)


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
