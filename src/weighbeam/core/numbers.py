"""Numbers in recorded data: which values count as one, rounding for comparison, formats for people."""

import math
from typing import TypeGuard


def is_integer(value: object, least: int | None = None) -> TypeGuard[int]:
    """Whether a value is an int, not a bool, and at least `least`.

    >>> is_integer(3, 1), is_integer(True), is_integer(2.0)
    (True, False, False)
    """
    return isinstance(value, int) and not isinstance(value, bool) and (least is None or value >= least)


def is_number(value: object, least: float | None = None) -> TypeGuard[int | float]:
    """Whether a value is a finite int or float, not a bool, and at least `least`.

    >>> is_number(0.5, 0), is_number(float("nan")), is_number("1")
    (True, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value) and (least is None or value >= least)
    except OverflowError:
        return False


NONE = "–"
SMALL, HUGE = 1e-3, 1e12


def format_short(value: float | None, form: str = ".6g") -> str:
    """A number for people: as `form` says, or with three digits where that would be all zeros or run off the page.

    >>> format_short(0.338043, ".3f"), format_short(-1.2412e87, ".5f"), format_short(0.00001234, ".5f")
    ('0.338', '-1.24e+87', '1.23e-05')
    >>> format_short(0.0, ".3f"), format_short(221_410_306.0, ",.0f"), format_short(None), format_short(math.nan)
    ('0.000', '221,410,306', '–', '–')
    """
    if value is None or not math.isfinite(value):
        return NONE
    return f"{value:.3g}" if value and not SMALL <= abs(value) < HUGE else format(value, form)


def round_significant(value: float, digits: int = 12) -> float:
    """Round to significant digits, so that maths libraries cannot reorder equal results.

    >>> round_significant(0.1 + 0.2), round_significant(-0.0)
    (0.3, 0.0)
    """
    return float(f"{value:.{digits - 1}e}") + 0.0
