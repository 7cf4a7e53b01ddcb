"""Exact sums of pairwise dot products, without visiting a pair.

For vectors v with group sums S_g and total S, over unordered pairs:

    Σ_same = ½ · Σ_g (|S_g|² − Σ_{i∈g} |v_i|²)      Σ_diff = ½ · (|S|² − Σ_i |v_i|²) − Σ_same

On integers these are exact, so the result depends on no order, batch, BLAS or machine, and the cost is linear in
the number of vectors.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

INT64_MAX = 2**63 - 1
EXACT_FLOAT = 2**53
LIMB_BITS = 21


@dataclass(frozen=True, slots=True)
class PairSums:
    """Sums of dot products and numbers of pairs, within groups and between them."""

    same: int
    same_pairs: int
    diff: int
    diff_pairs: int
    group_sizes: tuple[int, ...]
    group_sums: tuple[int, ...]


def sum_pairs(vectors: NDArray[np.integer], group_of: NDArray[np.integer], groups: int) -> PairSums:
    """Pair sums of integer `vectors` (n, d), where vector i belongs to group `group_of[i]` of `groups`.

    >>> sums = sum_pairs(np.array([[1, 0], [1, 1], [0, 2]]), np.array([0, 0, 1]), 2)
    >>> sums.same, sums.same_pairs, sums.diff, sums.diff_pairs
    (1, 1, 2, 2)
    """
    sizes = np.bincount(group_of, minlength=groups)
    sums, own = _sum_groups(vectors, group_of, sizes)
    squares = _square_norms(sums)
    group_sums = tuple((square - loose) // 2 for square, loose in zip(squares, own, strict=True))
    total = _square_norms(_sum_rows(sums))[0]
    same = sum(group_sums)
    every_pair = (total - sum(own)) // 2
    count = len(vectors)
    same_pairs = int((sizes * (sizes - 1) // 2).sum())
    return PairSums(
        same=same,
        same_pairs=same_pairs,
        diff=every_pair - same,
        diff_pairs=count * (count - 1) // 2 - same_pairs,
        group_sizes=tuple(sizes.tolist()),
        group_sums=group_sums,
    )


def mean_of(total: int, pairs: int, scale: int) -> float:
    """`total / (pairs · scale)`, correctly rounded once; 0 without pairs.

    >>> mean_of(1, 3, 1)
    0.3333333333333333
    """
    return total / (pairs * scale) if pairs else 0.0


def _sum_groups(
    vectors: NDArray[np.integer], group_of: NDArray[np.integer], sizes: NDArray[np.integer]
) -> tuple[NDArray[np.int64], list[int]]:
    """Per group: the sum of its vectors (groups, d), and the sum of their squared norms."""
    count, width = vectors.shape
    sums = np.zeros((len(sizes), width), dtype=np.int64)
    if count == 0:
        return sums, [0] * len(sizes)
    if np.any(group_of[1:] < group_of[:-1]):
        order = np.argsort(group_of, kind="stable")
        vectors = vectors[order]
    filled = np.flatnonzero(sizes)
    starts = (np.cumsum(sizes) - sizes)[filled]
    sums[filled] = np.add.reduceat(vectors, starts, axis=0, dtype=np.int64)
    own = np.zeros(len(sizes), dtype=object)
    own[filled] = np.add.reduceat(_own_squares(vectors), starts)
    return sums, [int(value) for value in own]


def _own_squares(vectors: NDArray[np.integer]) -> NDArray[np.int64] | NDArray[np.object_]:
    """Squared norm of each vector, in a type whose sums stay exact."""
    largest = max(int(vectors.max()), -int(vectors.min()))
    bound = largest * largest * vectors.shape[1]
    if bound < EXACT_FLOAT:
        floats = vectors.astype(np.float64)
        squares: NDArray[np.int64] = np.einsum("ij,ij->i", floats, floats).astype(np.int64)
        return squares if bound * len(vectors) <= INT64_MAX else squares.astype(object)
    wide = vectors.astype(object)
    exact: NDArray[np.object_] = np.add.reduce(wide * wide, axis=1)
    return exact


def _sum_rows(sums: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.add.reduce(sums, axis=0, keepdims=True)


def _square_norms(rows: NDArray[np.int64]) -> list[int]:
    """|row|² of each row as Python integers; two limbs when int64 cannot hold the squares."""
    if rows.size == 0:
        return [0] * len(rows)
    largest = max(int(rows.max()), -int(rows.min()))
    if largest * largest * rows.shape[1] <= INT64_MAX:
        return [int(value) for value in np.einsum("ij,ij->i", rows, rows)]
    high, low = rows >> LIMB_BITS, rows & ((1 << LIMB_BITS) - 1)
    squares = zip(
        np.einsum("ij,ij->i", high, high).tolist(),
        np.einsum("ij,ij->i", high, low).tolist(),
        np.einsum("ij,ij->i", low, low).tolist(),
        strict=True,
    )
    return [(hh << 2 * LIMB_BITS) + (hl << LIMB_BITS + 1) + ll for hh, hl, ll in squares]
