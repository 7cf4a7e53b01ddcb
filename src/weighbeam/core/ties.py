"""Runs of equals, in order: what ranking and paying by rank share."""

from collections.abc import Iterator, Sequence
from itertools import groupby


def tie_runs(values: Sequence[float]) -> Iterator[tuple[int, list[int]]]:
    """For each distinct value, ascending: the position of its first place and the indices that hold it.

    >>> list(tie_runs([0.5, 0.1, 0.5]))
    [(0, [1]), (1, [0, 2])]
    """
    first = 0
    order = sorted(range(len(values)), key=values.__getitem__)
    for _, run in groupby(order, key=values.__getitem__):
        equals = list(run)
        yield first, equals
        first += len(equals)
