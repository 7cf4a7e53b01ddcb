"""The best row found so far for each query of a batch."""

import numpy as np
from numpy.typing import NDArray

from weighbeam.senses.corpus.index import NOWHERE, Found

BELOW_ALL = -(2**62)


class Best:
    """Places and exact products; `BELOW_ALL` where nothing has been found."""

    def __init__(self, queries: int) -> None:
        self.places = np.full(queries, NOWHERE, np.int64)
        self.products = np.full(queries, BELOW_ALL, np.int64)

    def offer(self, numbers: NDArray[np.intp], places: NDArray[np.int64], products: NDArray[np.int64]) -> None:
        """Rows at ascending `places` for the queries of these `numbers`; of equal products the lowest place wins.

        >>> best = Best(1)
        >>> best.offer(np.array([0]), np.array([4, 6]), np.array([[7, 7]]))
        >>> best.offer(np.array([0]), np.array([2, 9]), np.array([[7, 5]]))
        >>> [each.tolist() for each in best.tell()]
        [[2], [7]]
        """
        column = products.argmax(axis=1)
        highest, place = products[np.arange(len(numbers)), column], places[column]
        known = self.products[numbers]
        better = (highest > known) | ((highest == known) & (place < self.places[numbers]))
        self.products[numbers[better]] = highest[better]
        self.places[numbers[better]] = place[better]

    def tell(self) -> Found:
        return self.places, np.where(self.places == NOWHERE, 0, self.products)


def join_found(found: list[Found]) -> Found:
    """Batches one after the other."""
    none = np.empty(0, np.int64)
    return np.concatenate([none, *(places for places, _ in found)]), np.concatenate(
        [none, *(dots for _, dots in found)]
    )
