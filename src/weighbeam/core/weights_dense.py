"""Weights of an epoch over whole arrays: which of them count, where the majority stands, what clipping costs."""

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.fixed import ONE, normalise
from weighbeam.core.fixed_arrays import LOW, SHIFT, Fixed, divide_units
from weighbeam.core.yuma_arrays import DenseSubnet, Flags

INDEX_BITS = np.uint64(16)
INDEX = np.uint64(2**16 - 1)


def mask_weights(subnet: DenseSubnet, permits: Flags, owner: int | None) -> tuple[Fixed, Flags]:
    """Weight rows that count, each scaled to its sum."""
    rows, registered = subnet.rows, subnet.registered_at
    counts = subnet.weighed & permits[rows, None] & (subnet.last_update[rows, None] > registered)
    if subnet.commit_blocks is not None:
        counts &= subnet.commit_blocks[rows, None] >= registered
    others = rows != owner if owner is not None else np.ones(len(rows), dtype=np.bool_)
    counts[np.flatnonzero(others), rows[others]] = False
    kept = np.where(counts, subnet.weights, 0).astype(np.uint64)
    return divide_units(kept, kept.sum(axis=1, keepdims=True)), counts


def find_consensus(weights: Fixed, rows: NDArray[np.intp], voting: list[int], kappa: int) -> Fixed:
    """The weighted median of each column: the first score, ascending, up to which voters hold more than the minority.

    All voters hold something, so this is where the chain's pivoting ends. Who votes without a row scores 0.
    """
    voters = [i for i, power in enumerate(voting) if power > 0]
    shares = dict(zip(voters, normalise([voting[i] for i in voters]), strict=True))
    named = rows.tolist()
    places = np.array([row for row, i in enumerate(named) if i in shares], dtype=np.intp)
    total = sum(shares.values())
    silent = total - sum(shares.get(i, 0) for i in named)
    minority = total - kappa
    if not len(places) or (silent and silent > minority):
        return np.zeros(len(voting), dtype=np.uint64)
    powers = np.array([shares[named[row]] for row in places.tolist()], dtype=np.int64)
    packed = (weights[places].T << INDEX_BITS) | np.arange(len(places), dtype=np.uint64)
    packed.sort(axis=1)
    reached = powers[(packed & INDEX).astype(np.intp)].cumsum(axis=1)
    first = np.minimum((reached <= minority - silent).sum(axis=1), len(places) - 1)
    found: Fixed = np.take_along_axis(packed, first[:, None], axis=1)[:, 0] >> INDEX_BITS
    return found


def penalise(free: tuple[Fixed, Flags], clipped: tuple[Fixed, Flags], penalty: int) -> tuple[Fixed, Flags]:
    """Weights moved towards their clipped value by the bonds penalty; what is lost is rounded up."""
    if penalty in (0, ONE):
        return clipped if penalty else free
    lost = (np.uint64(penalty) * (free[0] - clipped[0]) + LOW) >> SHIFT
    moved = free[0] - lost
    return moved, moved > 0
