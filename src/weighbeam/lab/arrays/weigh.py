"""A weigh-in of many validators at once: the gate, raw weights by rank, shares, u16 (docs/spec/weigh-in.md §§ 3, 5)."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.curves import U16_MAX, share_geometric
from weighbeam.lab.arrays.groups import Floats, Places

Flags = NDArray[np.bool_]
HOUR = 3600


@dataclass(frozen=True, slots=True)
class Sight:
    """When each validator last asked and last had success with each miner [validators, miners]; NaN is never."""

    asked_at: Floats
    success_at: Floats

    @classmethod
    def blank(cls, validators: int, miners: int) -> "Sight":
        return cls(np.full((validators, miners), np.nan), np.full((validators, miners), np.nan))

    def note(self, rows: Places, members: Places, at: float, statuses: NDArray[np.int8]) -> None:
        """Remember one round of each validator; an unscored answer (2) is no question."""
        if not statuses.any():
            self.asked_at[rows, members] = self.success_at[rows, members] = at
            return
        for times, holds in (self.asked_at, statuses < 2), (self.success_at, statuses == 0):
            times[rows, members] = np.where(holds, at, times[rows, members])

    def note_rounds(self, row: int, members: Places, at: Floats, statuses: NDArray[np.int8]) -> None:
        """Remember some rounds of one validator [rounds, size], the oldest first: of one column the last stays."""
        times = np.broadcast_to(at[:, None], members.shape)
        asked, good = statuses < 2, statuses == 0
        self.asked_at[row, members[asked]] = times[asked]
        self.success_at[row, members[good]] = times[good]

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
class Rows:
    """What each validator would submit: `shares` sum to 1, `units` have 65535 as their largest.

    `paid` is false where nothing is to be paid; such a validator skips, and its row is all zeros.
    """

    shares: Floats
    units: NDArray[np.int64]
    paid: Flags


def weigh_standings(scores: Floats, sight: Sight, now: float, curve: float, hours: float) -> Rows:
    """The weigh-in of the chunking mechanism, where only who was asked can be stale."""
    last = sight.gate(now, hours, only_if_asked=True)
    raw = weigh_geometric(scores, ~np.isnan(last), curve)
    return share_rows(np.where(now - last <= hours * HOUR, raw, 0.0))


def weigh_averages(averages: Floats, sight: Sight, now: float, hours: float) -> Rows:
    """The weigh-in of a mechanism paid by averaged emissions, where whoever has no success is stale."""
    last = sight.gate(now, hours, only_if_asked=False)
    return share_rows(np.where(now - last <= hours * HOUR, averages, 0.0))


def weigh_geometric(scores: Floats, fresh: Flags, curve: float) -> Floats:
    """Raw weights of ranks, best 1, for scores [validators, miners] of which the lowest is best.

    >>> weigh_geometric(np.array([[2.0, 0.5, 2.0]]), np.array([[True, True, True]]), 0.5)
    array([[0.375, 1.   , 0.375]])
    """
    paid = fresh & (scores >= 0)
    keys = np.where(paid, scores, np.inf)
    order = keys.argsort(axis=1)
    ordered = np.take_along_axis(keys, order, axis=1)
    raw = np.zeros_like(scores)
    np.put_along_axis(raw, order, np.where(ordered < np.inf, _powers(curve, scores.shape[1]), 0.0), axis=1)
    tied = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] < np.inf)
    for row in np.flatnonzero(tied.any(axis=1)).tolist():
        raw[row, paid[row]] = share_geometric(scores[row, paid[row]].tolist(), curve)
    return raw


@lru_cache(maxsize=8)
def _powers(curve: float, count: int) -> Floats:
    return np.array([curve**place for place in range(count)])


def share_rows(raw: Floats) -> Rows:
    """Raw weights, 0 where a miner is not paid, as the rows to submit."""
    totals = np.array([math.fsum(row) for row in raw.tolist()])
    paid = np.asarray(raw.any(axis=1))
    shares = raw / np.where(paid, totals, 1.0)[:, None]
    largest = np.where(paid, shares.max(axis=1), 1.0)[:, None]
    units = np.floor(shares / largest * U16_MAX + 0.5).astype(np.int64)
    return Rows(shares, units, paid)
