"""Exact sums of pairwise dot products, without visiting a pair.

For vectors v with group sums S_g and total S, over unordered pairs:

    Σ_same = ½ · Σ_g (|S_g|² − Σ_{i∈g} |v_i|²)      Σ_diff = ½ · (|S|² − Σ_i |v_i|²) − Σ_same

On integers these are exact, so the result depends on no order, batch, BLAS or machine, and the cost is linear in
the number of vectors.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.exact import square_rows, sum_and_square, sum_runs, widen


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
    ends = np.cumsum([0, *families.groups])
    rows, keys = _order_rows(families, ends[:-1])
    starts = _list_starts(keys)
    sizes = _list_sizes(starts, len(keys))
    largest, limit = int(sizes.max(initial=0)), max(families.counts, default=0)
    filled = keys[starts]
    stops = np.searchsorted(filled, ends)
    sums, at, norms = sum_and_square(vectors, rows, sizes)
    longest = int(norms.max(initial=0))
    # Of a family, no sum of squares is larger than that of its vectors laid end to end.
    bound = (limit * (math.isqrt(longest) + 1)) ** 2
    own = widen(np.add.reduceat(widen(norms, largest * longest)[rows], starts), bound)
    pairs = widen((square_rows(sums)[at] - own) // 2, bound)
    all_sums, all_at = sum_runs(widen(sums, limit * math.isqrt(longest)), at, stops[1:] - stops[:-1])
    same, same_pairs = _add_between(pairs, stops), _add_between(sizes * (sizes - 1) // 2, stops)
    diff = (square_rows(all_sums)[all_at] - _add_between(own, stops)) // 2 - same
    counts = np.array(families.counts, dtype=np.int64)
    diff_pairs = counts * (counts - 1) // 2 - same_pairs
    group_sizes, group_sums = _spread(sizes, filled, ends), _spread(pairs, filled, ends)
    figures = zip(*(values.tolist() for values in (same, same_pairs, diff, diff_pairs)), strict=True)
    return [
        PairSums(one, ones, other, others, tuple(group_sizes[first:end]), tuple(group_sums[first:end]))
        for (one, ones, other, others), (first, end) in zip(figures, pairwise(ends.tolist()), strict=True)
    ]


def mean_of(total: int, pairs: int, scale: int) -> float:
    """`total / (pairs · scale)`, correctly rounded once; 0 without pairs.

    >>> mean_of(1, 3, 1)
    0.3333333333333333
    """
    return total / (pairs * scale) if pairs else 0.0


def _order_rows(families: Families, firsts: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """All rows by family and group, and their groups, numbered on from family to family."""
    rows = families.rows.astype(np.intp, copy=False)
    keys = families.group_of.astype(np.intp, copy=False) + np.repeat(firsts, families.counts)
    if (keys[1:] < keys[:-1]).any():
        order = np.argsort(keys, kind="stable")
        rows, keys = rows[order], keys[order]
    return rows, keys


def _list_starts(keys: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where each run of equal keys begins."""
    begins = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=begins[1:])
    return np.flatnonzero(begins)


def _list_sizes(starts: NDArray[np.intp], stop: int) -> NDArray[np.intp]:
    sizes = np.empty_like(starts)
    np.subtract(starts[1:], starts[:-1], out=sizes[:-1])
    if len(starts):
        sizes[-1] = stop - starts[-1]
    return sizes


def _add_between(values: NDArray[Any], stops: NDArray[np.intp]) -> NDArray[Any]:
    """Sums of the values between two neighbouring stops, which may be none.

    The sum of all may run over an int64, but differences come out right as long as each of them fits.
    """
    running = np.zeros(len(values) + 1, dtype=values.dtype)
    np.cumsum(values, out=running[1:])
    return running[stops[1:]] - running[stops[:-1]]


def _spread(values: NDArray[Any], filled: NDArray[np.intp], ends: NDArray[np.intp]) -> list[int]:
    """One value for each group of all families, 0 for those without a vector."""
    groups = int(ends[-1])
    spread = values
    if len(filled) < groups:
        spread = np.zeros(groups, dtype=values.dtype)
        spread[filled] = values
    each: list[int] = spread.tolist()
    return each
