"""A weigh-in of many validators at once, as arrays [validators, miners]: the gate, shares, u16.

To the bit what the engine computes for one validator and one miner at a time (docs/spec/weigh-in.md §§ 3, 5): a
simulated year holds millions of rounds, and each function is held to the code that pays by a property test.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.stats import U16_MAX

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Flags = NDArray[np.bool_]
Statuses = NDArray[np.int8]
VALID, FAILED, UNSCORED = 0, 1, 2
HOUR = 3600


@dataclass(frozen=True, slots=True)
class LastAsked:
    """When each validator last asked and last had success with each miner [validators, miners]; NaN is never."""

    asked_at: Floats
    success_at: Floats

    @classmethod
    def blank(cls, validators: int, miners: int) -> "LastAsked":
        return cls(np.full((validators, miners), np.nan), np.full((validators, miners), np.nan))

    def note(self, rows: Places, members: Places, at: float, statuses: Statuses) -> None:
        """Remember one round of each validator; an unscored answer (2) does not count as a question."""
        if not statuses.any():
            self.asked_at[rows, members] = self.success_at[rows, members] = at
            return
        for times, holds in (self.asked_at, statuses < 2), (self.success_at, statuses == 0):
            times[rows, members] = np.where(holds, at, times[rows, members])

    def gate(self, now: float, hours: float, only_if_asked: bool) -> Floats:
        """The last success as the gate counts it; NaN means stale."""
        start = now - hours * HOUR
        last = np.where(self.success_at >= start, self.success_at, np.nan)
        if not only_if_asked:
            return last
        return np.where((self.asked_at < start) & ~np.isnan(self.success_at), now, last)

    def forget(self, miners: Places) -> None:
        """Somebody new stands under these columns."""
        self.asked_at[:, miners] = self.success_at[:, miners] = np.nan


@dataclass(frozen=True, slots=True)
class WeightRows:
    """Rows that validators would submit: `shares` sum to 1, `units` have 65535 as their largest.

    `paid` is false where nothing is to be paid; such a validator skips, and its row is all zeros.
    """

    shares: Floats
    units: NDArray[np.int64]
    paid: Flags


def share_rows(raw: Floats) -> WeightRows:
    """Raw weights, 0 where a miner is not paid, as the rows to submit."""
    totals = np.array([math.fsum(row) for row in raw.tolist()])
    paid = np.asarray(raw.any(axis=1))
    shares = raw / np.where(paid, totals, 1.0)[:, None]
    largest = np.where(paid, shares.max(axis=1), 1.0)[:, None]
    units = np.floor(shares / largest * U16_MAX + 0.5).astype(np.int64)
    return WeightRows(shares, units, paid)
