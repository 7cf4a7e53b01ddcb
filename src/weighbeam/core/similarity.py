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

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.exact import square_rows, sum_runs, widen


@dataclass(frozen=True, slots=True)
class Families:
    """Families of vectors in one line: each vector's row and group, each family's number of vectors and of groups."""

    rows: NDArray[np.integer]
    group_of: NDArray[np.integer]
    counts: Sequence[int]
    groups: Sequence[int]


@dataclass(frozen=True, slots=True)
class PairSums:
    """Sums of dot products and numbers of pairs, within groups and between them."""

    same: int
    same_pairs: int
    diff: int
    diff_pairs: int
    group_sizes: tuple[int, ...]
    group_sums: tuple[int, ...]


def one_family(group_of: NDArray[np.integer], groups: int) -> Families:
    """All rows of a table as one family."""
    return Families(np.arange(len(group_of)), group_of, [len(group_of)], [groups])


def sum_pairs_each(vectors: NDArray[np.integer], families: Families) -> list[PairSums]:
    """Pair sums of each family, all at once.

    A vector is squared once however many families share it, and a group without a vector costs nothing.

    >>> [sums] = sum_pairs_each(np.array([[1, 0], [1, 1], [0, 2]]), one_family(np.array([0, 0, 1]), 2))
    >>> sums.same, sums.same_pairs, sums.diff, sums.diff_pairs
    (1, 1, 2, 2)
    """
    ends = list(accumulate(families.groups))
    rows, keys = _order_rows(families, ends)
    norms = square_rows(vectors)
    longest = int(norms.max(initial=0))
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    sizes = np.diff(starts, append=len(keys))
    largest, limit = int(sizes.max(initial=0)), max(families.counts, default=0)
    filled = keys[starts]
    stops = np.searchsorted(filled, ends)
    own = np.add.reduceat(widen(norms, largest * longest)[rows], starts)
    sums, at = sum_runs(widen(vectors, largest * math.isqrt(longest)), rows, sizes)
    pairs = (square_rows(sums)[at] - own) // 2
    all_sums, all_at = sum_runs(widen(sums, limit * math.isqrt(longest)), at, np.diff(stops, prepend=0))
    totals = square_rows(all_sums)[all_at]
    lists = (filled.tolist(), sizes.tolist(), own.tolist(), pairs.tolist())
    return [
        _sum_family([values[start:stop] for values in lists], first, end - first, total)
        for (start, stop), (first, end), total in zip(
            pairwise([0, *stops.tolist()]), pairwise([0, *ends]), totals.tolist(), strict=True
        )
    ]


def mean_of(total: int, pairs: int, scale: int) -> float:
    """`total / (pairs · scale)`, correctly rounded once; 0 without pairs.

    >>> mean_of(1, 3, 1)
    0.3333333333333333
    """
    return total / (pairs * scale) if pairs else 0.0


def _order_rows(families: Families, ends: list[int]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """All rows by family and group, and their groups, numbered on from family to family."""
    offsets = np.repeat([end - groups for end, groups in zip(ends, families.groups, strict=True)], families.counts)
    rows, keys = families.rows.astype(np.intp, copy=False), families.group_of + offsets
    if (keys[1:] < keys[:-1]).any():
        order = np.argsort(keys, kind="stable")
        rows, keys = rows[order], keys[order]
    return rows, keys


def _sum_family(known: Sequence[list[int]], first: int, groups: int, total: int) -> PairSums:
    """One family's sums, from the number, size, Σ|v|² and pair sum of each filled group and from |S|² of all."""
    filled, sizes, own, pairs = known
    count, same = sum(sizes), sum(pairs)
    same_pairs = sum([size * (size - 1) for size in sizes]) // 2
    if len(filled) < groups:
        sizes, pairs = _spread(sizes, filled, first, groups), _spread(pairs, filled, first, groups)
    return PairSums(
        same=same,
        same_pairs=same_pairs,
        diff=(total - sum(own)) // 2 - same,
        diff_pairs=count * (count - 1) // 2 - same_pairs,
        group_sizes=tuple(sizes),
        group_sums=tuple(pairs),
    )


def _spread(values: list[int], filled: list[int], first: int, groups: int) -> list[int]:
    """One value for each group, 0 for those without a vector."""
    spread = [0] * groups
    for number, value in zip(filled, values, strict=True):
        spread[number - first] = value
    return spread
