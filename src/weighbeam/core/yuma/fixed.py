"""Fixed-point numbers as the chain computes them: an integer x stands for x / 2³², saturating to 64 bits.

Each rounding happens where it is written and nowhere else, so results agree with the runtime to the unit.
"""

from collections.abc import Sequence

BITS = 32
ONE = 1 << BITS
HALF = ONE >> 1
LARGEST = (1 << 63) - 1
SMALLEST = -(1 << 63)
U16_MAX = 65535
EULER = 11674931554
EXP_LIMIT = 20
EXP_TERMS = 31


def saturate(value: int) -> int:
    return max(SMALLEST, min(LARGEST, value))


def whole(number: int) -> int:
    return saturate(number << BITS)


def multiply(a: int, b: int) -> int:
    """The product; the shift floors, also for negatives.

    >>> multiply(-1, 1), multiply(whole(3), HALF) == whole(3) // 2
    (-1, True)
    """
    return saturate((a * b) >> BITS)


def divide(a: int, b: int) -> int:
    """The quotient truncated toward zero; by zero it is 0.

    >>> divide(whole(-1), whole(3)), divide(ONE, 0)
    (-1431655765, 0)
    """
    if b == 0:
        return 0
    quotient = abs(a << BITS) // abs(b)
    return saturate(-quotient if (a < 0) != (b < 0) else quotient)


def ratio(value: int) -> int:
    """A u16 as a share of 65535."""
    return divide(whole(value), whole(U16_MAX))


def to_share(value: int) -> int:
    """A share as u16, floored."""
    return max(0, min(U16_MAX, (value * U16_MAX) >> BITS))


def normalise(values: Sequence[int]) -> list[int]:
    """Each value divided by the sum; unchanged if that is 0."""
    total = sum(values)
    return [divide(value, total) for value in values] if total else list(values)


def exponential(value: int) -> int:
    """e^x by 31 terms of its series, clamped to ±20.

    >>> exponential(0) == ONE, exponential(ONE) == EULER
    (True, True)
    """
    size = min(abs(value), whole(EXP_LIMIT))
    if size == 0:
        return ONE
    result, term = (EULER, 0) if size == ONE else (ONE + size, size)
    if size != ONE:
        for i in range(2, EXP_TERMS + 1):
            term = divide(multiply(term, size), whole(i))
            result += term
    return divide(ONE, result) if value < 0 else result
