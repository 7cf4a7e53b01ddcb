"""Fixed-point numbers in whole arrays, exact to the unit with what `fixed` computes one by one."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.yuma.fixed import BITS, EULER, EXP_LIMIT, EXP_TERMS, ONE, U16_MAX, whole

Fixed: TypeAlias = NDArray[np.uint64]
Signed: TypeAlias = NDArray[np.int64]

SHIFT = np.uint64(BITS)
LOW = np.uint64(ONE - 1)
UNIT = np.uint64(ONE)
FULL = np.uint64(2**64 - 1)
FULL_U16 = np.uint64(U16_MAX)
ZERO = np.uint64(0)
BLOCK = 4096


def multiply_shares(shares: Fixed, others: Fixed) -> Fixed:
    """The floored products of two arrays of shares.

    >>> multiply_shares(np.uint64([ONE, 3]), np.uint64([ONE, ONE // 2])).tolist() == [ONE, 1]
    True
    """
    products = (shares * others) >> SHIFT
    both = (shares == UNIT) & (others == UNIT)
    if both.any():
        products[both] = UNIT
    return products


def multiply_signed(number: int, others: Signed) -> Signed:
    """The products of one number and an array within ±½, floored also for negatives.

    >>> multiply_signed(-3 * ONE - 1, np.array([1, -1])).tolist()
    [-4, 3]
    """
    high, low = divmod(number, ONE)
    return np.int64(high) * others + ((np.int64(low) * others) >> np.int64(BITS))


def divide_shares(shares: Fixed, sizes: Fixed) -> Fixed:
    """Quotients of shares by sizes at least as large; division by zero gives 0.

    >>> divide_shares(np.uint64([ONE, ONE, 1]), np.uint64([ONE, 3 * ONE, 0])).tolist() == [ONE, ONE // 3, 0]
    True
    """
    whole_ones = shares == UNIT
    sizes = np.broadcast_to(sizes, shares.shape)
    by = np.maximum(sizes, np.uint64(1))
    if not whole_ones.any():
        quotients = (shares << SHIFT) // by
    else:
        quotients = np.where(whole_ones, FULL, shares << SHIFT) // by
        quotients[whole_ones] += (FULL - quotients * by == by - np.uint64(1))[whole_ones]
    return np.where(sizes == ZERO, ZERO, quotients) if not sizes.all() else quotients


def divide_units(units: Fixed, sizes: Fixed) -> Fixed:
    """u16 values as shares of their sums, as if both were whole numbers; of nothing they stay as they are, 0."""
    shares: Fixed = (units << SHIFT) // np.maximum(sizes, np.uint64(1))
    return shares


def to_shares(values: Fixed) -> Fixed:
    """Shares as u16, floored."""
    units: Fixed = np.minimum(FULL_U16, (values * FULL_U16) >> SHIFT)
    return units


def exponentials(values: Signed) -> Fixed:
    """e^x of each, by the same 31 terms.

    >>> exponentials(np.array([0, ONE])).tolist() == [ONE, EULER]
    True
    """
    sizes = np.minimum(np.abs(values), whole(EXP_LIMIT)).astype(np.uint64)
    sums = np.empty_like(sizes)
    for first in range(0, len(sizes), BLOCK):
        sums[first : first + BLOCK] = _sum_terms(sizes[first : first + BLOCK])
    sums[sizes == UNIT] = EULER
    return np.where(values < 0, divide_shares(np.full_like(sums, UNIT), sums), sums)


def _sum_terms(sizes: Fixed) -> Fixed:
    """The series; a term times at most 20 stays within 63 bits."""
    top, bottom = sizes >> SHIFT, sizes & LOW
    terms, sums, spare = sizes.copy(), sizes + UNIT, np.empty_like(sizes)
    for i in range(2, EXP_TERMS + 1):
        np.bitwise_and(terms, LOW, out=spare)
        spare *= bottom
        spare >>= SHIFT
        spare += (terms >> SHIFT) * bottom
        terms *= top
        terms += spare
        terms //= np.uint64(i)
        sums += terms
    return sums
