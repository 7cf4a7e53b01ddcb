"""Bonds and dividends of both Yuma versions over whole arrays; rows are validators, columns all uids."""

import numpy as np

from weighbeam.core.fixed import HALF, ONE, U16_MAX, divide, ratio, whole
from weighbeam.core.fixed_arrays import (
    UNIT,
    Fixed,
    divide_shares,
    divide_units,
    exponentials,
    multiply_shares,
    multiply_signed,
)
from weighbeam.core.yuma import YumaParams
from weighbeam.core.yuma_arrays import DenseSubnet, Flags


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
