"""The tournament of one validator, for long runs: lists that stay almost sorted are quicker than short arrays."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weighbeam.core.canonical import seeded_digest
from weighbeam.core.stats import Ties, move_average, place_values
from weighbeam.lab.validators.weight_rows import FAILED, UNSCORED, VALID, Floats
from weighbeam.mechanism.records import Seed
from weighbeam.mechanisms.chunking.lab.group_arrays import GroupArrays
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.stand import group_alpha, tie_alpha


@dataclass(frozen=True, slots=True)
class SoloGroup:
    """Whom one round asks, as columns, and which of the groups they are."""

    members: list[int]
    index: int
    base: float


class SoloTournament:
    """One validator's standings, infinite where a miner was never ranked."""

    def __init__(self, hotkeys: Sequence[str], params: ChunkingParams) -> None:
        self.params, self.hotkeys = params, tuple(hotkeys)
        self.standings = [math.inf] * len(self.hotkeys)
        self.order = list(range(len(self.hotkeys)))
        groups = GroupArrays(hotkeys, params)
        self.size, self.starts, self.bases = groups.size, groups.starts.tolist(), groups.bases.tolist()
        self.ranked = 0

    @property
    def scores(self) -> Floats:
        """The standings as a row of `Tournament.scores`."""
        row = np.array(self.standings)
        row[np.isinf(row)] = np.nan
        return row

    def choose(self, seed: Seed) -> SoloGroup:
        """Whom the next round asks, in the order of their standing."""
        index = int(seeded_digest(seed, "group")[:16], 16) % len(self.starts)
        start, order, standings = self.starts[index], self.order, self.standings
        order.sort(key=standings.__getitem__)
        near = [standings[column] for column in order[max(0, start - 1) : start + self.size + 1]]
        if len(set(near)) < len(near):
            self._settle(start, seed)
        return SoloGroup(order[start : start + self.size], index, self.bases[index])

    def _settle(self, start: int, seed: Seed) -> None:
        """Put every run of equals that the group touches in the order of its digests."""
        ordered = np.array([self.standings[column] for column in self.order])
        at = start
        while at < start + self.size:
            first, stop = np.searchsorted(ordered, ordered[at]), np.searchsorted(ordered, ordered[at], side="right")
            if stop - first > 1:
                run = self.order[first:stop]
                self.order[first:stop] = sorted(run, key=lambda column: seeded_digest(seed, self.hotkeys[column]))
            at = int(stop)

    def stand(self, turn: SoloGroup, rewards: Sequence[float], statuses: Sequence[int]) -> None:
        """The standings after a round: rewards and statuses by member."""
        params, middle, standings = self.params, float(self.ranked // 2), self.standings
        alpha = group_alpha(params, turn.index, len(self.starts))
        columns, judged = turn.members, rewards
        if any(statuses):
            columns = [column for column, status in zip(columns, statuses, strict=True) if status == VALID]
            judged = [reward for reward, status in zip(rewards, statuses, strict=True) if status == VALID]
            self._fall(turn, statuses, alpha)
        places = _place(judged, params.ties)
        for column, place in zip(columns, places, strict=True):
            before = standings[column]
            if before == math.inf:
                before, self.ranked = middle, self.ranked + 1
            own = alpha if params.tie_alpha == "none" else tie_alpha(alpha, places.count(place), params)
            standings[column] = move_average(before, turn.base + place, own)

    def _fall(self, turn: SoloGroup, statuses: Sequence[int], alpha: float) -> None:
        """Failing is the last place, and never helps."""
        last = float(len(statuses) - statuses.count(UNSCORED) - 1)
        for column, status in zip(turn.members, statuses, strict=True):
            before = self.standings[column]
            if status == FAILED and before < math.inf:
                self.standings[column] = max(before, move_average(before, turn.base + last, alpha))


def _place(values: Sequence[float], ties: Ties) -> list[float]:
    """As `place_values`, without looking for equals where there are none."""
    if len(set(values)) < len(values):
        return place_values(values, ties)
    places = [0.0] * len(values)
    for place, i in enumerate(sorted(range(len(values)), key=values.__getitem__, reverse=True)):
        places[i] = float(place)
    return places
