"""Moving averages of emissions over a window, for many validators and miners at once (docs/spec/weigh-in.md § 4).

Rows must come oldest first, one per miner and round. A window is folded from its oldest row each time, like the
engine's when that row has left; nothing is ever subtracted.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from weighbeam.lab.validators.weight_rows import Floats

FIRST_DEPTH = 8
HOUR = 3600


class Averages:
    """The evaluations of each miner by each validator, as many as are still needed."""

    def __init__(
        self,
        validators: int,
        miners: int,
        alpha: float = 0.3,
        lookback_hours: float = 24.0,
        start: Literal["zero", "first"] = "zero",
    ) -> None:
        self.alpha, self.lookback, self.start = alpha, lookback_hours * HOUR, start
        self.times: Floats = np.full((FIRST_DEPTH, validators, miners), np.inf)
        self.emissions: Floats = np.zeros((FIRST_DEPTH, validators, miners))
        self.depth = np.zeros((validators, miners), dtype=np.intp)

    def add(self, rows: NDArray[np.intp], members: NDArray[np.intp], at: float, emissions: Floats) -> None:
        """One round of each validator: whom it asked [validators, size] and what each was worth."""
        depth = self.depth[rows, members]
        if depth.max(initial=0) >= len(self.times):
            self._make_room(at)
            depth = self.depth[rows, members]
        self.times[depth, rows, members] = at
        self.emissions[depth, rows, members] = emissions
        self.depth[rows, members] += 1

    def count(self, now: float) -> NDArray[np.int64]:
        """How many evaluations of each miner are in the window."""
        counted: NDArray[np.int64] = self._inside(now).sum(axis=0)
        return counted

    def fold(self, now: float) -> Floats:
        """The average of each miner over the window, 0 if there is nothing in it."""
        average = np.zeros(self.depth.shape)
        begun = np.zeros(self.depth.shape, dtype=np.bool_)
        for inside, emission in zip(self._inside(now), self.emissions, strict=True):
            moved = self.alpha * emission + (1 - self.alpha) * average
            if self.start == "first":
                moved = np.where(begun, moved, emission)
                begun |= inside
            average = np.where(inside, moved, average)
        return average

    def forget(self, miners: NDArray[np.intp]) -> None:
        """Somebody new stands under these columns."""
        self.depth[:, miners] = 0
        self.times[:, :, miners] = np.inf

    def _inside(self, now: float) -> NDArray[np.bool_]:
        return (self.times >= now - self.lookback) & (self.times <= now)

    def _make_room(self, now: float) -> None:
        """Let go of what has left the window, and grow by half if that is not enough."""
        kept = self.times >= now - self.lookback
        order = np.argsort(~kept, axis=0, kind="stable")
        self.times = np.take_along_axis(np.where(kept, self.times, np.inf), order, axis=0)
        self.emissions = np.take_along_axis(self.emissions, order, axis=0)
        self.depth = (self.times < np.inf).sum(axis=0)
        if self.depth.max() >= len(self.times):
            more = (len(self.times) // 2, *self.depth.shape)
            self.times = np.concatenate([self.times, np.full(more, np.inf)])
            self.emissions = np.concatenate([self.emissions, np.zeros(more)])
