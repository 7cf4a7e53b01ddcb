"""What may enter an index. The error bounds of the scans hold for unit vectors in millionths and for nothing else."""

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.errors import require
from weighbeam.core.exact import square_rows
from weighbeam.core.quantise import MILLION

LONGEST = 1_000_100
SHORTEST = 999_900
MOST_DIMENSIONS = 8192
REMEDY = "give what unit_millionths returns"


def check_dimensions(dimensions: int) -> None:
    """Up to 8,192 the bounds are tight enough to be of use, and no integer sum comes near the end of its type."""
    require(1 <= dimensions <= MOST_DIMENSIONS, "bad_row", f"{dimensions} dimensions", f"give 1 to {MOST_DIMENSIONS:,}")


def check_rows(rows: NDArray[np.int32], dimensions: int) -> None:
    """Refuse what is not (n, `dimensions`) of int32 with each row's length within 1e-4 of 1, or 0."""
    require(isinstance(rows, np.ndarray) and rows.dtype == np.int32, "bad_row", "rows are not an int32 array", REMEDY)
    shape = f"rows have the shape {rows.shape}, not (n, {dimensions})"
    require(rows.ndim == 2 and rows.shape[1] == dimensions, "bad_row", shape, REMEDY)
    if not len(rows):
        return
    inside = int(rows.min()) >= -MILLION and int(rows.max()) <= MILLION
    require(inside, "bad_row", "a component is outside ±1,000,000 millionths", REMEDY)
    squares = square_rows(rows)
    unit = (squares >= SHORTEST**2) & (squares <= LONGEST**2)
    sound = unit | (squares == 0)
    first = int(np.argmin(sound))
    length = float(np.sqrt(float(squares[first]))) / MILLION
    require(bool(sound[first]), "bad_row", f"row {first} has the length {length:.6f}, neither 1 nor 0", REMEDY)
