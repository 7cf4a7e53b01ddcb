"""A subnet and its epoch as arrays: one row per uid that has weights or bonds, one column per uid.

Where a mask is false there is no entry; a value of 0 under a true one is an entry of 0, which is something else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.yuma.epoch import Row, YumaEpoch, YumaSubnet
from weighbeam.core.yuma.fixed import U16_MAX

Flags = NDArray[np.bool_]
Units = NDArray[np.uint16]
Blocks = NDArray[np.int64]

LATEST = 2**62
NEVER = LATEST
"""In `commit_blocks`: no commit is pending."""


@dataclass(frozen=True, slots=True)
class DenseSubnet:
    """What the chain holds when an epoch is due. `rows` are the uids of the rows of all four matrices, ascending."""

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
            weights=_spread_rows(self.rows, self.weights, self.weighed, len(self.stake)),
            permits=self.permits.tolist(),
            last_update=self.last_update.tolist(),
            registered_at=self.registered_at.tolist(),
            bonds=_spread_rows(self.rows, self.bonds, self.bonded, len(self.stake)),
            last_step_block=self.last_step_block,
            emission=self.emission,
            commit_blocks=None if commits is None else [None if at == NEVER else at for at in commits],
        )


@dataclass(frozen=True, slots=True)
class DenseEpoch:
    """What an epoch decides, by uid; `bonds` and `bonded` are what the next subnet begins with."""

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

    def as_epoch(self) -> YumaEpoch:
        """The same with sparse rows."""
        return YumaEpoch(
            consensus=self.consensus.tolist(),
            incentive=self.incentive.tolist(),
            dividends=self.dividends.tolist(),
            validator_trust=self.validator_trust.tolist(),
            permits=self.permits.tolist(),
            active=self.active.tolist(),
            bonds=_spread_rows(self.rows, self.bonds, self.bonded, len(self.consensus)),
            server_emission=self.server_emission,
            validator_emission=self.validator_emission,
        )


def gather_subnet(subnet: YumaSubnet) -> DenseSubnet | None:
    """A subnet as arrays; None if one of its numbers is beyond what the arrays hold."""
    blocks = [*subnet.last_update, *subnet.registered_at, *(at for at in subnet.commit_blocks or () if at is not None)]
    if max(blocks, default=0) >= LATEST or len(subnet.stake) > U16_MAX:
        return None
    count = len(subnet.stake)
    rows = [i for i in range(count) if subnet.weights[i] or subnet.bonds[i]]
    try:
        weights, weighed = _gather_rows([subnet.weights[i] for i in rows], count)
        bonds, bonded = _gather_rows([subnet.bonds[i] for i in rows], count)
    except OverflowError:
        return None
    commits = subnet.commit_blocks
    return DenseSubnet(
        block=subnet.block,
        stake=subnet.stake,
        permits=np.array(subnet.permits, dtype=np.bool_),
        last_update=np.array(subnet.last_update, dtype=np.int64),
        registered_at=np.array(subnet.registered_at, dtype=np.int64),
        rows=np.array(rows, dtype=np.intp),
        weights=weights,
        weighed=weighed,
        bonds=bonds,
        bonded=bonded,
        last_step_block=subnet.last_step_block,
        emission=subnet.emission,
        commit_blocks=None if not commits else np.array([NEVER if at is None else at for at in commits], np.int64),
    )


def _gather_rows(rows: Sequence[Mapping[int, int]], count: int) -> tuple[Units, Flags]:
    """Values and which of them are there; columns beyond `count` belong to nobody."""
    values = np.zeros((len(rows), count), dtype=np.uint16)
    present = np.zeros((len(rows), count), dtype=np.bool_)
    for i, row in enumerate(rows):
        columns, units = np.array(list(row), dtype=np.int64), np.array(list(row.values()), dtype=np.uint16)
        inside = columns < count
        values[i, columns[inside]] = units[inside]
        present[i, columns[inside]] = True
    return values, present


def _spread_rows(rows: NDArray[np.intp], values: Units, present: Flags, count: int) -> list[Row]:
    spread: list[Row] = [{} for _ in range(count)]
    for i, units, there in zip(rows.tolist(), values, present, strict=True):
        spread[i] = dict(zip(np.flatnonzero(there).tolist(), units[there].tolist(), strict=True))
    return spread
