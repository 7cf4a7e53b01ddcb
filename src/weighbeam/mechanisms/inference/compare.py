"""Equal means within 1e-9 (spec, first lines): the comparisons every rule of the page is read with."""

EQUAL = 1e-9


def exceeds(a: float, b: float) -> bool:
    """`a > b`.

    >>> exceeds(0.7 + 1e-12, 0.7), exceeds(0.700001, 0.7)
    (False, True)
    """
    return a - b > EQUAL


def reaches(a: float, b: float) -> bool:
    """`a ≥ b`.

    >>> reaches(0.7 - 1e-12, 0.7), reaches(0.699999, 0.7)
    (True, False)
    """
    return a - b >= -EQUAL


def ramp(x: float, low: float, high: float) -> float:
    """0 up to `low`, 1 from `high`, straight between.

    >>> ramp(0.15, 0.1, 0.2), ramp(-1, 0, 1), ramp(2, 0, 1)
    (0.4999999999999999, 0.0, 1.0)
    """
    return min(1.0, max(0.0, (x - low) / (high - low)))
