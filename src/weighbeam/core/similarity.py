"""Exact sums of pairwise dot products, without visiting a pair.

For vectors v with group sums S_g and total S, over unordered pairs:

    Σ_same = ½ · Σ_g (|S_g|² − Σ_{i∈g} |v_i|²)      Σ_diff = ½ · (|S|² − Σ_i |v_i|²) − Σ_same

On integers these are exact, so the result depends on no order, batch, BLAS or machine, and the cost is linear in
the number of vectors.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

INT64_MAX = 2**63 - 1
EXACT_FLOAT = 2**53
LIMB_BITS = 21
BLOCK = 256

Family: TypeAlias = tuple[NDArray[np.integer], NDArray[np.integer], int]


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
    return sum_pairs_each([(vectors, group_of, groups)])[0]


def sum_pairs_each(families: Sequence[Family]) -> list[PairSums]:
    """Pair sums of several families of vectors, which share one piece of working memory."""
    width = max((vectors.shape[1] for vectors, _, _ in families), default=0)
    bench = np.empty((BLOCK, width))
    return [_sum_family(vectors, group_of, groups, bench) for vectors, group_of, groups in families]


def _sum_family(
    vectors: NDArray[np.integer], group_of: NDArray[np.integer], groups: int, bench: NDArray[np.float64]
) -> PairSums:
    count = len(vectors)
    sizes: list[int] = np.bincount(group_of, minlength=groups).tolist()
    sums, own, longest = _sum_groups(vectors, group_of, sizes, bench)
    *squares, total = _square_norms(sums, count * count * longest)
    group_sums = tuple((square - loose) // 2 for square, loose in zip(squares, own, strict=True))
    same = sum(group_sums)
    same_pairs = sum(size * (size - 1) // 2 for size in sizes)
    return PairSums(
        same=same,
        same_pairs=same_pairs,
        diff=(total - sum(own)) // 2 - same,
        diff_pairs=count * (count - 1) // 2 - same_pairs,
        group_sizes=tuple(sizes),
        group_sums=group_sums,
    )


def mean_of(total: int, pairs: int, scale: int) -> float:
    """`total / (pairs · scale)`, correctly rounded once; 0 without pairs.

    >>> mean_of(1, 3, 1)
    0.3333333333333333
    """
    return total / (pairs * scale) if pairs else 0.0


def _sum_groups(
    vectors: NDArray[np.integer],
    group_of: NDArray[np.integer],
    sizes: list[int],
    bench: NDArray[np.float64],
) -> tuple[NDArray[np.int64], list[int], int]:
    """The sum of each group's vectors and, in a last row, of all; each group's sum of squared norms; the largest."""
    count, width = vectors.shape
    if count == 0:
        return np.zeros((len(sizes) + 1, width), dtype=np.int64), [0] * len(sizes), 0
    if (group_of[1:] < group_of[:-1]).any():
        order = np.argsort(group_of, kind="stable")
        vectors, group_of = vectors[order], group_of[order]
    stops = list(accumulate(sizes))
    sums, squares = _sum_blocks(vectors, stops, bench[:, :width])
    longest = float(squares.max())
    if longest >= EXACT_FLOAT or count * math.sqrt(longest) >= EXACT_FLOAT or count * longest >= INT64_MAX:
        return _sum_wide_groups(vectors, stops)
    np.add.reduce(sums[:-1], axis=0, out=sums[-1])
    return sums.astype(np.int64), _sum_squares(squares, group_of, stops, count * longest), int(longest)


def _sum_squares(
    squares: NDArray[np.float64], group_of: NDArray[np.integer], stops: list[int], most: float
) -> list[int]:
    """Each group's sum of squared norms: in float64 while that is exact, else as differences of an int64 sum."""
    if most < EXACT_FLOAT:
        return [int(own) for own in np.bincount(group_of, squares, len(stops)).tolist()]
    running = [0, *np.cumsum(squares.astype(np.int64)).tolist()]
    return [running[stop] - running[start] for start, stop in pairwise([0, *stops])]


def _sum_blocks(
    vectors: NDArray[np.integer], ends: list[int], bench: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Group sums and squared norms in float64, which adds integers exactly below 2⁵³ and faster than int64 does.

    Block by block on the same bench, so that it stays in the cache and the cost per vector does not grow.
    """
    count, width = vectors.shape
    sums = np.zeros((len(ends) + 1, width))
    squares = np.empty(count)
    ones = np.ones(len(bench))
    group = 0
    for first in range(0, count, len(bench)):
        block = bench[: min(len(bench), count - first)]
        block[:] = vectors[first : first + len(block)]
        np.vecdot(block, block, out=squares[first : first + len(block)])
        at = 0
        while at < len(block):
            stop = ends[group] - first
            if stop > len(block):
                sums[group] += ones[: len(block) - at] @ block[at:]
                break
            if at == 0 < first:
                sums[group] += ones[:stop] @ block[:stop]
            else:
                np.dot(ones[: stop - at], block[at:stop], out=sums[group])
            at, group = stop, group + 1
    return sums, squares


def _sum_wide_groups(vectors: NDArray[np.integer], stops: list[int]) -> tuple[NDArray[np.int64], list[int], int]:
    """The same for vectors too long or too many for float64: int64 sums, squares as Python integers."""
    wide = vectors.astype(np.int64)
    squares = _square_norms(wide, INT64_MAX + 1)
    groups = np.split(wide, stops[:-1])
    sums = np.array([*(np.add.reduce(group, axis=0) for group in groups), np.add.reduce(wide, axis=0)])
    own = [sum(squares[a:b]) for a, b in pairwise([0, *stops])]
    return sums, own, max(squares)


def _square_norms(rows: NDArray[np.int64], bound: int) -> list[int]:
    """|row|² of each row as Python integers; in two limbs when int64 cannot hold what `bound` allows."""
    if bound <= INT64_MAX:
        squares: list[int] = np.vecdot(rows, rows).tolist()
        return squares
    high, low = rows >> LIMB_BITS, rows & ((1 << LIMB_BITS) - 1)
    limbs = (np.vecdot(high, high).tolist(), np.vecdot(high, low).tolist(), np.vecdot(low, low).tolist())
    return [(hh << 2 * LIMB_BITS) + (hl << LIMB_BITS + 1) + ll for hh, hl, ll in zip(*limbs, strict=True)]
