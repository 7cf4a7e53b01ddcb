"""Parts of a matrix: who is linked with whom, however far around, and what is between some of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def join(linked: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Connected components of a symmetric relation: each one's smallest member.

    >>> join(np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]], dtype=bool)).tolist()
    [0, 1, 0]
    """
    label = np.full(len(linked), -1, dtype=np.intp)
    alone = linked.sum(axis=1) - linked.diagonal() == 0
    label[alone] = np.flatnonzero(alone)
    while (label < 0).any():
        start = int((label < 0).argmax())
        label[start] = start
        reached = [start]
        while reached and (unmet := label < 0).any():
            found = np.flatnonzero(linked[reached.pop()] & unmet)
            label[found] = start
            reached += found.tolist()
    return label


def split_components(linked: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """The members of each component.

    >>> [members.tolist() for members in split_components(np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]], dtype=bool))]
    [[0, 2], [1]]
    """
    label = join(linked)
    order = np.argsort(label, kind="stable")
    starts = np.flatnonzero(np.diff(label[order], prepend=-1))
    return np.split(order, starts[1:]) if len(order) else []


def take(matrix: NDArray[Any], numbers: NDArray[np.intp]) -> NDArray[Any]:
    """Rows and columns of these numbers, ascending; all of them are the matrix itself, not a copy."""
    if len(numbers) == len(matrix):
        return matrix
    part: NDArray[Any] = matrix[np.ix_(numbers, numbers)]
    return part
