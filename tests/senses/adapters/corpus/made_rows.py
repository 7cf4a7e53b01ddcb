"""Rows that are hard for an index: near-ties, equals, opposites, one-hot, lopsided and zero ones."""

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.quantise import MILLION, unit_millionths

KINDS = ("clustered", "near", "equal", "onehot", "opposite", "lopsided", "zero", "mixed")

Rows = NDArray[np.int32]


def make_rows(kind: str, count: int, dimensions: int, seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    if kind == "mixed":
        parts = [make_rows(each, count, dimensions, seed) for each in KINDS[:-1]]
        return np.concatenate(parts)[rng.permutation(len(parts) * count)[:count]]
    return MAKERS[kind](rng, count, dimensions)


def _cluster(rng: np.random.Generator, count: int, dimensions: int) -> Rows:
    centres = rng.normal(size=(3, dimensions))
    return unit_millionths(centres[rng.integers(0, 3, count)] + 0.2 * rng.normal(size=(count, dimensions)))


def _near(rng: np.random.Generator, count: int, dimensions: int) -> Rows:
    """One row, its components off by a millionth here and there: many ties, and products apart by single units."""
    rows = np.repeat(unit_millionths(rng.normal(size=(1, dimensions))), count, axis=0)
    return np.clip(rows + rng.integers(-1, 2, rows.shape, dtype=np.int32), -MILLION, MILLION).astype(np.int32)


def _equal(rng: np.random.Generator, count: int, dimensions: int) -> Rows:
    return unit_millionths(rng.normal(size=(2, dimensions)))[rng.integers(0, 2, count)]


def _one_hot(rng: np.random.Generator, count: int, dimensions: int) -> Rows:
    rows = np.zeros((count, dimensions), np.int32)
    rows[np.arange(count), rng.integers(0, dimensions, count)] = MILLION * rng.choice([-1, 1], count)
    return rows


def _opposite(rng: np.random.Generator, count: int, dimensions: int) -> Rows:
    return (_equal(rng, count, dimensions) * rng.choice([-1, 1], (count, 1))).astype(np.int32)


def _lopsided(rng: np.random.Generator, count: int, dimensions: int) -> Rows:
    """Components from a millionth to nearly one in the same row: the worst case for a scale of its own."""
    sizes = 10.0 ** rng.uniform(-7, 0, (count, dimensions))
    return unit_millionths(sizes * rng.choice([-1, 1], sizes.shape))


def _zero(rng: np.random.Generator, count: int, dimensions: int) -> Rows:
    return (_cluster(rng, count, dimensions) * rng.integers(0, 2, (count, 1))).astype(np.int32)


MAKERS = {
    "clustered": _cluster,
    "near": _near,
    "equal": _equal,
    "onehot": _one_hot,
    "opposite": _opposite,
    "lopsided": _lopsided,
    "zero": _zero,
}


def search_naively(rows: Rows, queries: Rows) -> tuple[list[int], list[int]]:
    """The oracle: every product in int64, the first of the highest."""
    if not len(rows):
        return [-1] * len(queries), [0] * len(queries)
    products = queries.astype(np.int64) @ rows.astype(np.int64).T
    places = products.argmax(axis=1)
    return places.tolist(), products[np.arange(len(queries)), places].tolist()
