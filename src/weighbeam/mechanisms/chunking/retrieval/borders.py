"""How well the cuts of a chunking meet true borders: Pk, WindowDiff and F1 (spec § 17). Pure."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanisms.chunking.retrieval.measure import Places

TOLERANCE = 2
"""Characters by which a cut may miss a border and still meet it: a line break or two blanks."""


@dataclass(frozen=True, slots=True)
class BorderFigures:
    """Pk and WindowDiff are error rates, lower is better; F1 is of cuts that meet borders, higher is better."""

    pk: float
    window_diff: float
    f1: float

    def as_json(self) -> dict[str, float]:
        return asdict(self)


def measure_borders(borders: Sequence[int], places: Places, length: int) -> BorderFigures:
    """Cuts are where the second and every later chunk begins. Windows are counted in characters.

    >>> measure_borders([50], [(0, 50), (50, 100)], 100)
    BorderFigures(pk=0.0, window_diff=0.0, f1=1.0)
    """
    starts = sorted({place[0] for place in places if place is not None})
    cuts = starts[1:]
    window = max(1, round(length / (len(borders) + 1) / 2))
    true, made = _count_before(borders, length), _count_before(cuts, length)
    truly, cut = true[window:] - true[:-window], made[window:] - made[:-window]
    if not len(truly):
        return BorderFigures(0.0, 0.0, _match(borders, cuts))
    apart = float(np.count_nonzero((truly > 0) != (cut > 0)) / len(truly))
    differ = float(np.count_nonzero(truly != cut) / len(truly))
    return BorderFigures(apart, differ, _match(borders, cuts))


def _count_before(borders: Sequence[int], length: int) -> NDArray[np.int64]:
    """For each character, how many borders lie at or before it."""
    counts = np.zeros(length, dtype=np.int64)
    np.add.at(counts, [at for at in borders if at < length], 1)
    return np.cumsum(counts)


def _match(borders: Sequence[int], cuts: Sequence[int]) -> float:
    """F1 of one-to-one matches, from left to right; of two empty lists 1.

    >>> _match([10, 20, 30], [11, 30])
    0.8
    """
    if not borders and not cuts:
        return 1.0
    hits = at = 0
    for cut in cuts:
        while at < len(borders) and borders[at] < cut - TOLERANCE:
            at += 1
        if at < len(borders) and borders[at] <= cut + TOLERANCE:
            hits, at = hits + 1, at + 1
    return 2 * hits / (len(borders) + len(cuts))
