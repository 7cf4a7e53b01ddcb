"""The pairs that cost a chunking most: the least alike inside chunks, the most alike between them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.quantise import MILLION

BLOCK = 512


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sampled segments by position, and their similarity."""

    first: int
    second: int
    similarity: float


def find_telling_pairs(
    vectors: NDArray[np.integer], chunk_of: NDArray[np.integer], most: int = 3
) -> tuple[list[Pair], list[Pair]]:
    """The `most` least similar pairs within chunks and the `most` most similar between chunks.

    Products of integers below 2⁵³ are exact in float64, so the order depends on no machine.
    """
    floats = vectors.astype(np.float64)
    within: list[tuple[float, int, int]] = []
    between: list[tuple[float, int, int]] = []
    for start in range(0, len(floats), BLOCK):
        products = floats[start : start + BLOCK] @ floats.T
        rows = np.arange(start, start + len(products))
        later = rows[:, None] < np.arange(len(floats))
        same = chunk_of[rows][:, None] == chunk_of[None, :]
        within = _keep(within, products, later & same, start, most)
        between = _keep(between, -products, later & ~same, start, most)
    scale = float(MILLION) ** 2
    return (
        [Pair(i, j, value / scale) for value, i, j in within],
        [Pair(i, j, -value / scale) for value, i, j in between],
    )


def _keep(
    kept: list[tuple[float, int, int]],
    products: NDArray[np.float64],
    wanted: NDArray[np.bool_],
    start: int,
    most: int,
) -> list[tuple[float, int, int]]:
    """The smallest `most` products, those kept so far included; equals by position."""
    rows, columns = np.nonzero(wanted)
    values = products[rows, columns]
    if len(values) > most:
        limit = np.partition(values, most - 1)[most - 1]
        near = np.flatnonzero(values <= limit)
        rows, columns, values = rows[near], columns[near], values[near]
    found = zip(values.tolist(), (rows + start).tolist(), columns.tolist(), strict=True)
    return sorted([*kept, *found])[:most]
