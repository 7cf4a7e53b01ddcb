"""Which choices no other one beats. Pure."""

from collections.abc import Sequence


def find_front(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Of points of (gain, cost): those that nothing equals or betters in both and betters in one.

    >>> find_front([(0.8, 0.5), (0.7, 0.6), (0.6, 0.1), (0.8, 0.5)])
    [True, False, True, True]
    """
    return [not any(dominates(other, point) for other in points) for point in points]


def dominates(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """
    >>> dominates((0.8, 0.5), (0.8, 0.6)), dominates((0.8, 0.5), (0.8, 0.5)), dominates((0.9, 0.6), (0.8, 0.5))
    (True, False, False)
    """
    no_worse = one[0] >= other[0] and one[1] <= other[1]
    return no_worse and one != other
