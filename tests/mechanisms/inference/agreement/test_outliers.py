"""LOF against scikit-learn where nothing is tied; who is protected; how short is too short."""

import numpy as np
import pytest

from weighbeam.mechanisms.inference.agreement.filter import find_outliers, least_words, measure_lof
from weighbeam.mechanisms.inference.params import InferenceParams

PARAMS = InferenceParams()


@pytest.mark.parametrize("count", [4, 5, 9, 30, 70])
@pytest.mark.parametrize("seed", range(5))
def test_as_scikit_learn_without_ties(count: int, seed: int) -> None:
    from sklearn.neighbors import LocalOutlierFactor

    points = np.random.default_rng(seed).normal(size=(count, 6))
    points /= np.linalg.norm(points, axis=1)[:, None]
    cosines = points @ points.T
    distance = np.sqrt(np.maximum(0, 2 - 2 * cosines))
    np.fill_diagonal(distance, 0)
    neighbours = max(2, min(20, count // 2))
    theirs = LocalOutlierFactor(n_neighbors=neighbours, metric="precomputed").fit(distance)
    assert measure_lof(cosines, 0.0) == pytest.approx(-theirs.negative_outlier_factor_, rel=1e-6)


def test_all_points_at_the_k_distance_are_neighbours() -> None:
    cosines = np.full((6, 6), 0.5)
    np.fill_diagonal(cosines, 1)
    assert measure_lof(cosines, 0.35) == pytest.approx(np.ones(6))
    cosines[5, :5] = cosines[:5, 5] = 0.0
    lof = measure_lof(cosines, 0.35)
    assert lof[5] > 1.4
    assert lof[:5] == pytest.approx(np.ones(5))


def test_identical_points_have_a_lof() -> None:
    assert measure_lof(np.ones((5, 5)), 0.0).tolist() == [1.0] * 5


def test_an_answer_as_good_as_the_typical_one_is_never_removed() -> None:
    lof = np.array([1.0, 1.0, 1.0, 3.0])
    assert find_outliers(lof, np.array([0.5, 0.5, 0.5, 0.5]), PARAMS).tolist() == [False] * 4
    assert find_outliers(lof, np.array([0.9, 0.9, 0.9, 0.55]), PARAMS).tolist() == [False] * 4
    assert find_outliers(lof, np.array([0.5, 0.5, 0.5, 0.49]), PARAMS).tolist() == [False, False, False, True]


def test_least_words() -> None:
    assert least_words(np.array([60, 60, 60]), 0.5) == 30
    assert least_words(np.array([60, 60, 60]), 1.0) == 0
    assert least_words(np.array([60]), 0.0) == 60
