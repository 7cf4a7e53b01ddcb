"""Public signs on chain against a validator: rows that equal an old consensus, endless favours."""

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.stats import U16_MAX
from weighbeam.lab.validators.year import Year

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]

COPY_WITHIN, COPY_DEPTH = 0.01, 8
FAVOUR_SHARE, FAVOUR_TIMES, FAVOUR_EPOCHS = 0.05, 10, 10


def find_copies(year: Year, within: float = COPY_WITHIN, depth: int = COPY_DEPTH) -> Flags:
    """[epochs, validators]: the row differs by less than `within` of its weight from the consensus of one of the
    `depth` epochs before it."""
    rows, agreed = share(get_rows(year)), share(year.consensus)
    copied = np.zeros(rows.shape[:2], dtype=np.bool_)
    for lag in range(1, min(depth + 1, len(rows))):
        apart = np.abs(rows[lag:] - agreed[:-lag, None, :]).sum(axis=2) / 2
        something = np.asarray(agreed[:-lag].any(axis=1))
        copied[lag:] |= (apart < within) & something[:, None] & rows[lag:].any(axis=2)
    return copied


def find_favours(
    year: Year, least: float = FAVOUR_SHARE, times: float = FAVOUR_TIMES, epochs: int = FAVOUR_EPOCHS
) -> Flags:
    """[epochs, validators, miners]: for so many epochs on end the row gave this miner at least `least` of its weight,
    and at least `times` what consensus gave it. Honest rows err too, but seldom long on the same miner."""
    rows = share(get_rows(year))
    over = (rows >= least) & (rows >= times * (year.consensus / U16_MAX)[:, None, :])
    lasting = over.copy()
    for back in range(1, epochs):
        lasting[back:] &= over[: len(over) - back]
    lasting[: epochs - 1] = False
    return lasting


def get_rows(year: Year) -> NDArray[np.uint16]:
    assert year.rows is not None, "simulate_year did not keep its rows"
    return year.rows


def share(values: NDArray[np.uint16]) -> Floats:
    """Each row as shares of its sum; a row of zeros stays one."""
    totals = values.sum(axis=-1, keepdims=True, dtype=np.float64)
    shares: Floats = values / np.where(totals == 0, 1.0, totals)
    return shares
