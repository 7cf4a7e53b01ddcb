"""Whole units out of exact shares: floors first, then one unit each by largest remainder."""

import math
from collections.abc import Sequence
from fractions import Fraction


def read_decimal(number: float) -> Fraction:
    """The decimal a person wrote, not the binary number nearest to it.

    >>> read_decimal(0.1), read_decimal(1e-05)
    (Fraction(1, 10), Fraction(1, 100000))
    """
    return Fraction(repr(number))


def round_half_up(number: Fraction) -> int:
    """
    >>> round_half_up(Fraction(5, 2)), round_half_up(Fraction(9, 4))
    (3, 2)
    """
    return math.floor(number + Fraction(1, 2))


def apportion(ideals: Sequence[Fraction]) -> list[int]:
    """Integers with the sum of the ideals, which must be whole; equal remainders go to who comes first.

    >>> apportion([Fraction(5, 2), Fraction(5, 4), Fraction(5, 4)])
    [3, 1, 1]
    """
    units = [math.floor(ideal) for ideal in ideals]
    left = int(sum(ideals)) - sum(units)
    neediest = sorted(range(len(ideals)), key=lambda i: units[i] - ideals[i])
    for i in neediest[:left]:
        units[i] += 1
    return units
