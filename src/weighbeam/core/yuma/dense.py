"""The Yuma epoch over whole arrays: the same integers as `epoch`, rounded in the same places.

Numbers that 64 bits do not surely hold are left to core/yuma/epoch.py, so there is no approximation anywhere.
"""

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.yuma.arrays import LATEST, DenseEpoch, DenseSubnet, Flags
from weighbeam.core.yuma.epoch import (
    YumaParams,
    grant_permits,
    run_epoch,
    share_emission,
    share_stake,
)
from weighbeam.core.yuma.fixed import HALF, ONE, U16_MAX, divide, normalise, ratio, to_share, whole
from weighbeam.core.yuma.fixed_arrays import (
    LOW,
    SHIFT,
    UNIT,
    Fixed,
    divide_shares,
    divide_units,
    exponentials,
    multiply_shares,
    multiply_signed,
    to_shares,
)

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


def blend_bonds(
    subnet: DenseSubnet, params: YumaParams, penalised: Fixed, traded: Flags, powers: Fixed, consensus: Fixed
) -> Fixed:
    """The moving average of the bonds; an entry is there exactly where it is positive."""
    old = _mask_bonds(subnet, params.tempo)
    if not params.yuma3:
        before = divide_units(old, old.sum(axis=0))
        return _blend(_scale_columns(multiply_shares(penalised, powers[:, None])), before, params)
    before = divide_units(old, _full(U16_MAX))
    if params.liquid_alpha and consensus.any():
        return _blend_liquid(penalised, traded, before, consensus, params)
    return _blend(penalised, before, params)


def pay_yuma2(blended: Fixed, _: Fixed, incentive: Fixed) -> tuple[list[int], Fixed]:
    """Dividends before they are scaled, and the bonds to store: in the largest of each column."""
    held = _scale_columns(blended)
    earned: list[int] = multiply_shares(held, incentive).sum(axis=1).tolist()
    return earned, divide_shares(held, held.max(axis=0, initial=0))


def pay_yuma3(blended: Fixed, powers: Fixed, incentive: Fixed) -> tuple[list[int], Fixed]:
    """Dividends before they are scaled, and the bonds to store: as they are."""
    earned = multiply_shares(_scale_columns(blended), incentive).sum(axis=1)
    paid: list[int] = multiply_shares(earned, powers).tolist()
    return paid, blended


def _mask_bonds(subnet: DenseSubnet, tempo: int) -> Fixed:
    """Stored bonds without those towards uids that were registered since the last epoch."""
    last = max(0, subnet.block - tempo) if not subnet.last_step_block else subnet.last_step_block + 1
    return np.where(subnet.bonded & (subnet.registered_at < last), subnet.bonds, 0).astype(np.uint64)


def _scale_columns(matrix: Fixed) -> Fixed:
    return divide_shares(matrix, matrix.sum(axis=0))


def _blend(new: Fixed, old: Fixed, params: YumaParams) -> Fixed:
    rate = ONE - params.bonds_moving_average * ONE // 1_000_000
    return multiply_shares(new, _full(rate)) + multiply_shares(old, _full(ONE - rate))


def _blend_liquid(new: Fixed, traded: Flags, old: Fixed, consensus: Fixed, params: YumaParams) -> Fixed:
    """The moving average at a rate of each entry's own; a bond without a current weight vanishes."""
    low, high = ratio(params.alpha_low), ratio(params.alpha_high)
    slope = divide(whole(params.alpha_steepness), whole(-100))
    weight, bond = new[traded], old[traded]
    wanted = np.broadcast_to(consensus, new.shape)[traded]
    above = np.where(weight >= bond, weight - np.minimum(weight, wanted), bond - np.minimum(weight, bond))
    apart = np.minimum(UNIT, above).astype(np.int64)
    power = exponentials(multiply_signed(slope, apart - HALF))
    steep = divide_shares(np.full_like(power, UNIT), power + UNIT)
    rate = np.minimum(np.uint64(high), multiply_shares(steep, _full(high - low)) + np.uint64(low))
    value = multiply_shares(UNIT - rate, bond) + multiply_shares(rate, weight)
    blended = np.zeros_like(new)
    blended[traded] = np.minimum(UNIT, value)
    return blended


def _full(value: int) -> Fixed:
    return np.array([value], dtype=np.uint64)


STEEPEST = 2**15


def run_dense(subnet: DenseSubnet, params: YumaParams) -> DenseEpoch:
    """The epoch of one mechanism, arrays in and arrays out."""
    if not fits_arrays(subnet.block, params):
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


def fits_arrays(block: int, params: YumaParams) -> bool:
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
