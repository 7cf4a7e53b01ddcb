"""Groups that many validators ask: the chunking mechanism's own draw, over sorted arrays.

Seeded digests decide among equals, and only there are they computed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.canonical import seeded_digest
from weighbeam.lab.validators.weight_rows import Floats, Places
from weighbeam.mechanism.records import Seed
from weighbeam.mechanisms.chunking.groups import form_groups
from weighbeam.mechanisms.chunking.params import ChunkingParams


@dataclass(frozen=True, slots=True)
class DrawnGroups:
    """One group per validator: `members` [validators, size] are columns in the order of their standing."""

    members: Places
    index: Places
    count: int
    base: Floats


class GroupArrays:
    """The groups that a number of miners falls into, whatever their order."""

    def __init__(self, hotkeys: Sequence[str], params: ChunkingParams) -> None:
        self.hotkeys = tuple(hotkeys)
        groups = form_groups(self.hotkeys, params.group_size, params.rank_values)
        self.size = min(len(self.hotkeys), params.group_size)
        self.starts = np.array([start for start, _ in groups.ranges], dtype=np.intp)
        self.bases = np.array(groups.bases)
        self.steps = np.arange(self.size)

    def draw(self, scores: Floats, seeds: Sequence[Seed]) -> DrawnGroups:
        """The group of each validator's round, from scores [validators, miners]; NaN is never ranked."""
        count = len(self.starts)
        index = np.array([int(seeded_digest(seed, "group")[:16], 16) % count for seed in seeds], dtype=np.intp)
        keys = np.where(scores >= 0, scores, np.inf)
        order = keys.argsort(axis=1)
        ordered = np.take_along_axis(keys, order, axis=1)
        starts = self.starts[index]
        for row in np.flatnonzero(self._are_tied(ordered, starts)).tolist():
            self._settle(order[row], ordered[row], int(starts[row]), seeds[row])
        members = np.take_along_axis(order, starts[:, None] + self.steps, axis=1)
        return DrawnGroups(members, index, count, self.bases[index])

    def _are_tied(self, ordered: Floats, starts: Places) -> NDArray[np.bool_]:
        """Whether a group has equals within it, or at one of its edges."""
        rows = np.arange(len(ordered))[:, None]
        last = ordered.shape[1] - 1
        left = starts[:, None] + np.arange(-1, self.size)
        equal = ordered[rows, np.maximum(left, 0)] == ordered[rows, np.minimum(left + 1, last)]
        tied: NDArray[np.bool_] = (equal & (left >= 0) & (left < last)).any(axis=1)
        return tied

    def _settle(self, order: Places, ordered: Floats, start: int, seed: Seed) -> None:
        """Put every run of equals that the group touches in the order of its digests."""
        at = start
        while at < start + self.size:
            first, stop = np.searchsorted(ordered, ordered[at]), np.searchsorted(ordered, ordered[at], side="right")
            if stop - first > 1:
                run = order[first:stop].tolist()
                order[first:stop] = sorted(run, key=lambda column: seeded_digest(seed, self.hotkeys[column]))
            at = int(stop)
