"""What counts as a number in recorded data, and how a float is rounded for comparison."""

import math
from typing import TypeGuard


def is_integer(value: object, least: int | None = None) -> TypeGuard[int]:
    """An int that is no bool, and at least `least`.

    >>> is_integer(3, 1), is_integer(True), is_integer(2.0)
    (True, False, False)
    """
    return isinstance(value, int) and not isinstance(value, bool) and (least is None or value >= least)


def is_number(value: object, least: float | None = None) -> TypeGuard[int | float]:
    """A finite int or float that is no bool, and at least `least`.

    >>> is_number(0.5, 0), is_number(float("nan")), is_number("1")
    (True, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value) and (least is None or value >= least)
    except OverflowError:
        return False


def round_significant(value: float, digits: int = 12) -> float:
    """Round to significant digits, so that maths libraries cannot reorder equal results.

    >>> round_significant(0.1 + 0.2), round_significant(-0.0)
    (0.3, 0.0)
    """
    return float(f"{value:.{digits - 1}e}") + 0.0
