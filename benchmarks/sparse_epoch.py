"""The Yuma epoch over arrays, from a subnet with sparse rows to an epoch with sparse rows.

The lab keeps arrays from epoch to epoch; this is for comparing them with the epoch of the chain.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from weighbeam.core.yuma.arrays import LATEST, NEVER, DenseEpoch, DenseSubnet, Flags, Units, spread_rows
from weighbeam.core.yuma.dense import fits_arrays, run_dense
from weighbeam.core.yuma.epoch import YumaEpoch, YumaParams, YumaSubnet, run_epoch
from weighbeam.core.yuma.fixed import U16_MAX


def run_epoch_dense(subnet: YumaSubnet, params: YumaParams) -> YumaEpoch:
    """What `run_epoch` returns, sooner where rows are full."""
    dense = gather_subnet(subnet)
    if dense is None or not fits_arrays(subnet.block, params):
        return run_epoch(subnet, params)
    epoch = spread_epoch(run_dense(dense, params))
    for i, permit in enumerate(epoch.permits):
        if not (permit or subnet.permits[i] or i == params.owner_uid):
            epoch.bonds[i] = dict(subnet.bonds[i])
    return epoch


def spread_epoch(epoch: DenseEpoch) -> YumaEpoch:
    """The same epoch with sparse rows."""
    return YumaEpoch(
        consensus=epoch.consensus.tolist(),
        incentive=epoch.incentive.tolist(),
        dividends=epoch.dividends.tolist(),
        validator_trust=epoch.validator_trust.tolist(),
        permits=epoch.permits.tolist(),
        active=epoch.active.tolist(),
        bonds=spread_rows(epoch.rows, epoch.bonds, epoch.bonded, len(epoch.consensus)),
        server_emission=epoch.server_emission,
        validator_emission=epoch.validator_emission,
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
