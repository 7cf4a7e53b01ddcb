"""The Yuma epoch of core/yuma.py over whole arrays: the same integers, rounded in the same places.

Numbers that 64 bits do not surely hold are left to core/yuma.py, so there is no approximation anywhere.
"""

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.bonds_dense import blend_bonds, pay_yuma2, pay_yuma3
from weighbeam.core.fixed import U16_MAX, normalise, ratio, to_share
from weighbeam.core.fixed_arrays import Fixed, multiply_shares, to_shares
from weighbeam.core.weights_dense import find_consensus, mask_weights, penalise
from weighbeam.core.yuma import Epoch, Subnet, YumaParams, grant_permits, run_epoch, share_emission, share_stake
from weighbeam.core.yuma_arrays import LATEST, DenseEpoch, DenseSubnet, Flags, gather_subnet

STEEPEST = 2**15


def run_epoch_dense(subnet: Subnet, params: YumaParams) -> Epoch:
    """What `run_epoch` returns, sooner where rows are full."""
    dense = gather_subnet(subnet)
    if dense is None or not _fits(subnet.block, params):
        return run_epoch(subnet, params)
    epoch = run_dense(dense, params).as_epoch()
    for i, permit in enumerate(epoch.permits):
        if not (permit or subnet.permits[i] or i == params.owner_uid):
            epoch.bonds[i] = dict(subnet.bonds[i])
    return epoch


def run_dense(subnet: DenseSubnet, params: YumaParams) -> DenseEpoch:
    """The epoch of one mechanism, arrays in and arrays out."""
    if not _fits(subnet.block, params):
        return _run_sparse(subnet, params)
    owner, rows = params.owner_uid, subnet.rows
    active = subnet.last_update >= subnet.block - params.activity_cutoff
    permits = subnet.permits.copy()
    if owner is not None:
        permits[owner] = True
    stake = share_stake(subnet.stake, params.stake_threshold, owner)
    voting = normalise([share if votes else 0 for share, votes in zip(stake, (active & permits).tolist(), strict=True)])
    powers = np.array(voting, dtype=np.uint64)
    weights, weighed = mask_weights(subnet, permits, owner)
    consensus = find_consensus(weights, rows, voting, ratio(params.kappa))
    clipped = np.minimum(weights, consensus)
    kept = weighed & ((weights <= consensus) | (consensus != 0))
    ranks = multiply_shares(powers[rows, None], clipped).sum(axis=0)
    incentive = normalise(ranks.tolist())
    penalised, traded = penalise((weights, weighed), (clipped, kept), ratio(params.bonds_penalty))
    blended = blend_bonds(subnet, params, penalised, traded, powers[rows], consensus)
    shares = np.array(incentive, dtype=np.uint64)
    pay = pay_yuma3 if params.yuma3 else pay_yuma2
    earned, bonds = pay(blended, powers[rows], shares)
    dividends = _place(normalise(earned), rows, len(stake))
    granted = np.array(grant_permits(stake, params.max_validators, owner), dtype=np.bool_)
    stored, bonded = _store_bonds(subnet, bonds, blended > 0, granted[rows], permits[rows])
    server, validator = share_emission(subnet.emission, incentive, dividends, voting, stake)
    return DenseEpoch(
        consensus=to_shares(consensus).astype(np.int64),
        incentive=to_shares(shares).astype(np.int64),
        dividends=np.array([to_share(value) for value in dividends], dtype=np.int64),
        validator_trust=np.array(_place(to_shares(clipped.sum(axis=1)).tolist(), rows, len(stake)), dtype=np.int64),
        permits=granted,
        active=active,
        rows=rows,
        bonds=stored,
        bonded=bonded,
        server_emission=server,
        validator_emission=validator,
    )


def _fits(block: int, params: YumaParams) -> bool:
    """Whether every step below stays within 64 bits."""
    units = (params.kappa, params.bonds_penalty, params.alpha_low, params.alpha_high)
    return (
        block < LATEST
        and params.activity_cutoff < LATEST
        and params.tempo < LATEST
        and params.alpha_low <= params.alpha_high
        and params.bonds_moving_average <= 1_000_000
        and abs(params.alpha_steepness) <= STEEPEST
        and max(units) <= U16_MAX
    )


def _run_sparse(subnet: DenseSubnet, params: YumaParams) -> DenseEpoch:
    epoch = run_epoch(subnet.as_subnet(), params)
    bonds, bonded = np.zeros_like(subnet.bonds), np.zeros_like(subnet.bonded)
    for row, i in enumerate(subnet.rows.tolist()):
        columns = list(epoch.bonds[i])
        bonds[row, columns], bonded[row, columns] = list(epoch.bonds[i].values()), True
    return DenseEpoch(
        consensus=np.array(epoch.consensus, dtype=np.int64),
        incentive=np.array(epoch.incentive, dtype=np.int64),
        dividends=np.array(epoch.dividends, dtype=np.int64),
        validator_trust=np.array(epoch.validator_trust, dtype=np.int64),
        permits=np.array(epoch.permits, dtype=np.bool_),
        active=np.array(epoch.active, dtype=np.bool_),
        rows=subnet.rows,
        bonds=bonds,
        bonded=bonded,
        server_emission=epoch.server_emission,
        validator_emission=epoch.validator_emission,
    )


def _store_bonds(
    subnet: DenseSubnet, bonds: Fixed, held: Flags, granted: Flags, had: Flags
) -> tuple[NDArray[np.uint16], Flags]:
    """New bonds of who has a permit now; nothing of who lost it, and what there was of who never had one."""
    as_before = ~granted & ~had
    units = np.where(granted[:, None], to_shares(bonds).astype(np.uint16), np.uint16(0))
    bonded = held & granted[:, None]
    units[as_before], bonded[as_before] = subnet.bonds[as_before], subnet.bonded[as_before]
    return np.where(bonded, units, np.uint16(0)), bonded


def _place(values: list[int], rows: NDArray[np.intp], count: int) -> list[int]:
    placed = [0] * count
    for i, value in zip(rows.tolist(), values, strict=True):
        placed[i] = value
    return placed
