"""A subnet and its epoch as arrays: one row per uid that has weights or bonds, one column per uid.

Where a mask is false there is no entry; a value of 0 under a true one is an entry of 0, which is something else.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.yuma.epoch import Row, YumaSubnet

Flags = NDArray[np.bool_]
Units = NDArray[np.uint16]
Blocks = NDArray[np.int64]

LATEST = 2**62
NEVER = LATEST
"""In `commit_blocks`: no commit is pending."""


@dataclass(frozen=True, slots=True)
class DenseSubnet:
    """State of the chain when an epoch is due. `rows` are the uids of the rows of all four matrices, ascending."""

    block: int
    stake: Sequence[int]
    permits: Flags
    last_update: Blocks
    registered_at: Blocks
    rows: NDArray[np.intp]
    weights: Units
    weighed: Flags
    bonds: Units
    bonded: Flags
    last_step_block: int | None = None
    emission: int = 0
    commit_blocks: Blocks | None = None

    def as_subnet(self) -> YumaSubnet:
        """The same with sparse rows."""
        commits = None if self.commit_blocks is None else self.commit_blocks.tolist()
        return YumaSubnet(
            block=self.block,
            stake=self.stake,
            weights=spread_rows(self.rows, self.weights, self.weighed, len(self.stake)),
            permits=self.permits.tolist(),
            last_update=self.last_update.tolist(),
            registered_at=self.registered_at.tolist(),
            bonds=spread_rows(self.rows, self.bonds, self.bonded, len(self.stake)),
            last_step_block=self.last_step_block,
            emission=self.emission,
            commit_blocks=None if commits is None else [None if at == NEVER else at for at in commits],
        )


@dataclass(frozen=True, slots=True)
class DenseEpoch:
    """Result of an epoch, by uid; `bonds` and `bonded` are the next subnet's start."""

    consensus: NDArray[np.int64]
    incentive: NDArray[np.int64]
    dividends: NDArray[np.int64]
    validator_trust: NDArray[np.int64]
    permits: Flags
    active: Flags
    rows: NDArray[np.intp]
    bonds: Units
    bonded: Flags
    server_emission: list[int]
    validator_emission: list[int]


def spread_rows(rows: NDArray[np.intp], values: Units, present: Flags, count: int) -> list[Row]:
    """Sparse rows of `count` uids, from the rows of a matrix and the mask of its entries."""
    spread: list[Row] = [{} for _ in range(count)]
    for i, units, there in zip(rows.tolist(), values, present, strict=True):
        spread[i] = dict(zip(np.flatnonzero(there).tolist(), units[there].tolist(), strict=True))
    return spread
