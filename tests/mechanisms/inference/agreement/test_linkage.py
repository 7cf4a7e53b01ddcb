"""Average linkage: against the definition, pair by pair, and against scipy where nothing is tied."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from weighbeam.mechanisms.inference.agreement.clusters import link_average


def link_by_definition(similarity: NDArray[np.float64], limit: float) -> list[list[int]]:
    """Every pair measured anew before every merge."""
    clusters = [[number] for number in range(len(similarity))]
    while len(clusters) > 1:
        ranked = []
        for a, b in combinations(clusters, 2):
            mean = sum(similarity[i][j] for i in a for j in b) / (len(a) * len(b))
            ranked.append((round(1 - mean, 9), a, b))
        distance, a, b = min(ranked, key=lambda row: (row[0], row[1][0], row[2][0]))
        if not limit - distance > 1e-9:
            break
        clusters = sorted([c for c in clusters if c not in (a, b)] + [sorted(a + b)])
    return clusters


def make_cosines(seed: int, count: int, spread: float, groups: int = 3) -> NDArray[np.float64]:
    dice = np.random.default_rng(seed)
    centres = dice.normal(size=(groups, 12))
    points = centres[dice.integers(0, groups, count)] + spread * dice.normal(size=(count, 12))
    points /= np.linalg.norm(points, axis=1)[:, None]
    cosines = np.round(points @ points.T, 6)
    upper = np.triu(cosines, 1)
    return upper + upper.T + np.eye(count)


@given(st.integers(1, 9), st.integers(0, 10**6), st.sampled_from([1, 2, 6]), st.sampled_from([0.2, 0.5, 0.9, 1.3]))
def test_as_defined_ties_and_all(count: int, seed: int, digits: int, limit: float) -> None:
    drawn = np.triu(np.round(np.random.default_rng(seed).uniform(-0.3, 1, (count, count)), digits), 1)
    similarity = drawn + drawn.T + np.eye(count)
    assert link_average(similarity, limit) == link_by_definition(similarity, limit)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("spread", [0.3, 0.8, 1.5])
def test_as_scipy_without_ties(seed: int, spread: float) -> None:
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    similarity = make_cosines(seed, 60, spread)
    tree = linkage(squareform(1 - similarity, checks=False), "average")
    label = fcluster(tree, 0.5, "distance")
    expected = sorted(np.flatnonzero(label == number).tolist() for number in set(label))
    assert link_average(similarity, 0.5) == expected


def test_nobody_one_and_all() -> None:
    assert link_average(np.zeros((0, 0)), 0.5) == []
    assert link_average(np.ones((1, 1)), 0.5) == [[0]]
    assert link_average(np.full((5, 5), 0.8), 0.5) == [[0, 1, 2, 3, 4]]
    assert link_average(np.eye(3), 0.5) == [[0], [1], [2]]


def test_cosines_finer_than_a_millionth_are_taken_as_they_are() -> None:
    near, far = 0.5 + 1e-8, 0.5 - 1e-8
    assert link_average(np.array([[1, near], [near, 1]]), 0.5) == [[0, 1]]
    assert link_average(np.array([[1, far], [far, 1]]), 0.5) == [[0], [1]]
