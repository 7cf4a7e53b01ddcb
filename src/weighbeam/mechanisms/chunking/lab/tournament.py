"""The chunking tournament of many validators at once: choose, rank, stand, weigh."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.stats import Ties, share_geometric
from weighbeam.lab.validators.weight_rows import (
    FAILED,
    HOUR,
    UNSCORED,
    VALID,
    Flags,
    Floats,
    LastAsked,
    Statuses,
    WeightRows,
    share_rows,
)
from weighbeam.mechanism.records import Seed
from weighbeam.mechanisms.chunking.lab.group_arrays import DrawnGroups, GroupArrays
from weighbeam.mechanisms.chunking.params import ChunkingParams


class Tournament:
    """Standings `scores` [validators, miners]; NaN where a miner was never ranked."""

    def __init__(self, hotkeys: Sequence[str], validators: int, params: ChunkingParams) -> None:
        self.params = params
        self.groups = GroupArrays(hotkeys, params)
        self.scores: Floats = np.full((validators, len(hotkeys)), np.nan)
        self.rows = np.arange(validators)[:, None]

    def choose(self, seeds: Sequence[Seed]) -> DrawnGroups:
        """Choose the group of each validator's next round."""
        return self.groups.draw(self.scores, seeds)

    def stand(self, drawn: DrawnGroups, rewards: Floats, statuses: Statuses) -> None:
        """All standings after one round of each validator: rewards and statuses [validators, size] by member."""
        places, sharing = rank_rewards(rewards, statuses, self.params.ties)
        before = self.scores[self.rows, drawn.members]
        middle = np.count_nonzero(self.scores >= 0, axis=1)[:, None] // 2
        alpha = _group_alpha(self.params, drawn)
        rank = drawn.base[:, None] + places
        own = _tie_alpha(alpha, sharing, self.params)
        moved = own * rank + (1 - own) * np.where(np.isnan(before), middle, before)
        after = np.where(statuses == VALID, moved, before)
        if statuses.any():
            fallen = np.maximum(before, alpha * rank + (1 - alpha) * before)
            after = np.where(statuses == FAILED, fallen, after)
        after[(before < 0) & (statuses != UNSCORED)] = np.nan
        self.scores[self.rows, drawn.members] = after

    def weigh(self, sight: LastAsked, now: float, hours: float) -> WeightRows:
        """The row of each validator, where only who was asked can be stale."""
        return weigh_standings(self.scores, sight, now, self.params.curve, hours)

    def forget(self, miners: Sequence[int] | NDArray[np.intp]) -> None:
        """Somebody new stands under these columns."""
        self.scores[:, miners] = np.nan


def rank_rewards(rewards: Floats, statuses: Statuses, ties: Ties) -> tuple[Floats, NDArray[np.int64]]:
    """Places within each group, and how many valid answers share each.

    >>> rank_rewards(np.array([[0.5, 0.5, 9.0]]), np.array([[VALID, VALID, FAILED]], dtype=np.int8), "average")[0]
    array([[0.5, 0.5, 2. ]])
    """
    scored = np.where(statuses == VALID, rewards, -np.inf) if statuses.any() else rewards
    mine, theirs = scored[:, :, None], scored[:, None, :]
    above, sharing = np.count_nonzero(theirs > mine, axis=2), np.count_nonzero(theirs == mine, axis=2)
    places = above + (sharing - 1) / 2 if ties == "average" else above.astype(np.float64)
    if statuses.any():
        judged = np.count_nonzero(statuses != UNSCORED, axis=1)[:, None]
        places = np.where(statuses == FAILED, judged - 1.0, places)
    return places, sharing


def _group_alpha(params: ChunkingParams, drawn: DrawnGroups) -> Floats:
    """The alpha of each validator's group, as a column."""
    if params.alpha_min is None:
        return np.full((len(drawn.index), 1), params.alpha)
    if drawn.count == 1:
        return np.full((len(drawn.index), 1), params.alpha_min)
    return (params.alpha_min + (1 - params.alpha_min) * drawn.index / (drawn.count - 1))[:, None]


def _tie_alpha(alpha: Floats, sharing: NDArray[np.int64], params: ChunkingParams) -> Floats:
    if params.tie_alpha == "halve":
        halved: Floats = np.ldexp(alpha, (1 - sharing).astype(np.int32))
        return halved
    return alpha / sharing if params.tie_alpha == "divide" else alpha


def weigh_standings(scores: Floats, sight: LastAsked, now: float, curve: float, hours: float) -> WeightRows:
    """The weigh-in of the chunking mechanism, where only who was asked can be stale."""
    last = sight.gate(now, hours, only_if_asked=True)
    raw = weigh_geometric(scores, ~np.isnan(last), curve)
    return share_rows(np.where(now - last <= hours * HOUR, raw, 0.0))


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
