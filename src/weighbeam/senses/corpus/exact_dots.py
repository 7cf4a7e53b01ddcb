"""Dot products of rows in millionths that never round.

Σ|qᵢxᵢ| ≤ |q|·|x| < 1.0003e12 for rows that `check_rows` lets pass, and so is every partial sum, in any order. Float64
holds each of them, being integers below 2⁵³: the fastest product there is gives the integer.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def dot_exactly(queries: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.int64]:
    """Products (queries, rows) of integers in millionths, given in any type.

    >>> dot_exactly(np.array([[600000, 800000]]), np.array([[800000, 600000], [0, -1000000]])).tolist()
    [[960000000000, -800000000000]]
    """
    products: NDArray[np.float64] = queries.astype(np.float64) @ rows.astype(np.float64).T
    return products.astype(np.int64)
