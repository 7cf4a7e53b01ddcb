"""Comparisons with a tolerance of 1e-9, used by every rule of the spec."""

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
