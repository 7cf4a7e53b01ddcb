"""Exact sums of pairwise dot products, without visiting a pair.

For vectors v with group sums S_g and total S, over unordered pairs:

    Σ_same = ½ · Σ_g (|S_g|² − Σ_{i∈g} |v_i|²)      Σ_diff = ½ · (|S|² − Σ_i |v_i|²) − Σ_same

On integers these are exact, so the result depends on no order, batch, BLAS or machine, and the cost is linear in
the number of vectors.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    """Pair sums of several families of vectors, on one bench."""
    width = max((vectors.shape[1] for vectors, _, _ in families), default=0)
    most = max((min(groups, len(vectors)) for vectors, _, groups in families), default=0)
    bench = _Bench(np.empty((BLOCK, width)), np.ones(BLOCK), np.empty((most, width)))
    return [_sum_family(vectors, group_of, groups, bench) for vectors, group_of, groups in families]


def mean_of(total: int, pairs: int, scale: int) -> float:
    """`total / (pairs · scale)`, correctly rounded once; 0 without pairs.

    >>> mean_of(1, 3, 1)
    0.3333333333333333
    """
    return total / (pairs * scale) if pairs else 0.0


@dataclass(frozen=True, slots=True)
class _Bench:
    """Working memory for one family after the other: fresh memory would cost more than the sums."""

    block: NDArray[np.float64]
    ones: NDArray[np.float64]
    sums: NDArray[np.float64]


def _sum_family(vectors: NDArray[np.integer], group_of: NDArray[np.integer], groups: int, bench: _Bench) -> PairSums:
    counted = np.bincount(group_of, minlength=groups)
    if not counted.all():
        return _sum_sparse_family(vectors, group_of, counted, bench)
    sizes: list[int] = counted.tolist()
    if (group_of[1:] < group_of[:-1]).any():
        order = np.argsort(group_of, kind="stable")
        vectors, group_of = vectors[order], group_of[order]
    squares, own, total = _sum_groups(vectors, group_of, list(accumulate(sizes)), bench)
    count = len(vectors)
    group_sums = tuple([(square - loose) // 2 for square, loose in zip(squares, own, strict=True)])
    same = sum(group_sums)
    same_pairs = sum([size * (size - 1) for size in sizes]) // 2
    return PairSums(
        same=same,
        same_pairs=same_pairs,
        diff=(total - sum(own)) // 2 - same,
        diff_pairs=count * (count - 1) // 2 - same_pairs,
        group_sizes=tuple(sizes),
        group_sums=group_sums,
    )


def _sum_sparse_family(
    vectors: NDArray[np.integer], group_of: NDArray[np.integer], counted: NDArray[np.integer], bench: _Bench
) -> PairSums:
    """Groups without a vector cost no row: the others are numbered anew, and the empty ones filled in after."""
    filled = np.flatnonzero(counted).tolist()
    if not filled:
        empty = (0,) * len(counted)
        return PairSums(0, 0, 0, 0, empty, empty)
    renumbered = np.cumsum(counted > 0) - 1
    dense = _sum_family(vectors, renumbered[group_of], len(filled), bench)
    group_sums = [0] * len(counted)
    for group, value in zip(filled, dense.group_sums, strict=True):
        group_sums[group] = value
    return replace(dense, group_sizes=tuple(counted.tolist()), group_sums=tuple(group_sums))


def _sum_groups(
    vectors: NDArray[np.integer], group_of: NDArray[np.integer], stops: list[int], bench: _Bench
) -> tuple[list[int], list[int], int]:
    """|S_g|² and Σ|v|² of each group, and |S|² of all."""
    count, groups = len(vectors), len(stops)
    sums, norms = _sum_blocks(vectors, stops, bench)
    longest = float(norms.max())
    if max(longest, count * math.sqrt(longest)) >= EXACT_FLOAT or count * longest >= INT64_MAX:
        return _sum_wide_groups(vectors, stops)
    largest = max(stop - start for start, stop in pairwise([0, *stops]))
    squares = _square_norms(sums, int(largest * largest * longest))
    (total,) = _square_norms(np.ones((1, groups)) @ sums, int(count * count * longest))
    return squares, _sum_norms(norms, group_of, stops, count * longest), total


def _sum_blocks(
    vectors: NDArray[np.integer], stops: list[int], bench: _Bench
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Group sums and squared norms in float64, which adds integers exactly below 2⁵³.

    Block by block on the same bench, so that it stays in the cache and the cost per vector does not grow.
    """
    count, width = vectors.shape
    sums, ones = bench.sums[: len(stops), :width], bench.ones
    sums.fill(0.0)
    norms = np.empty(count)
    group = 0
    for first in range(0, count, BLOCK):
        size = min(BLOCK, count - first)
        block = bench.block[:size, :width]
        block[:] = vectors[first : first + size]
        np.vecdot(block, block, out=norms[first : first + size])
        at = 0
        while at < size:
            stop = stops[group] - first
            if stop > size:
                sums[group] += ones[: size - at] @ block[at:]
                break
            if at == 0 < first:
                sums[group] += ones[:stop] @ block[:stop]
            else:
                np.dot(ones[: stop - at], block[at:stop], out=sums[group])
            at, group = stop, group + 1
    return sums, norms


def _sum_norms(norms: NDArray[np.float64], group_of: NDArray[np.integer], stops: list[int], most: float) -> list[int]:
    """Each group's sum of squared norms: in float64 while that is exact, else as differences of an int64 sum."""
    if most < EXACT_FLOAT:
        own: list[int] = np.bincount(group_of, norms, len(stops)).astype(np.int64).tolist()
        return own
    running = [0, *np.cumsum(norms.astype(np.int64)).tolist()]
    return [running[stop] - running[start] for start, stop in pairwise([0, *stops])]


def _sum_wide_groups(vectors: NDArray[np.integer], stops: list[int]) -> tuple[list[int], list[int], int]:
    """The same for vectors too long or too many for float64: int64 sums, squares as Python integers."""
    wide = vectors.astype(np.int64)
    norms = _square_norms(wide, INT64_MAX + 1)
    groups = np.split(wide, stops[:-1])
    sums = np.array([*(np.add.reduce(group, axis=0) for group in groups), np.add.reduce(wide, axis=0)])
    *squares, total = _square_norms(sums, INT64_MAX + 1)
    return squares, [sum(norms[a:b]) for a, b in pairwise([0, *stops])], total


def _square_norms(rows: NDArray[np.float64] | NDArray[np.int64], bound: int) -> list[int]:
    """|row|² of each row as Python integers, in a type that holds what `bound` allows: float64, int64 or two limbs."""
    if bound < EXACT_FLOAT:
        return [int(square) for square in np.vecdot(rows, rows).tolist()]
    rows = rows.astype(np.int64)
    if bound <= INT64_MAX:
        squares: list[int] = np.vecdot(rows, rows).tolist()
        return squares
    high, low = rows >> LIMB_BITS, rows & ((1 << LIMB_BITS) - 1)
    limbs = (np.vecdot(high, high).tolist(), np.vecdot(high, low).tolist(), np.vecdot(low, low).tolist())
    return [(hh << 2 * LIMB_BITS) + (hl << LIMB_BITS + 1) + ll for hh, hl, ll in zip(*limbs, strict=True)]
