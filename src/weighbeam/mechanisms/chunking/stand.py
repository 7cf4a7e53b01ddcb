"""The moving average of ranks, and its uncertainty (spec § 10)."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weighbeam.core.stats import move_average, spread_course
from weighbeam.mechanism.records import Status
from weighbeam.mechanisms.chunking.params import ChunkingParams

Scores = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class PlacedMiner:
    """One miner's place in a round."""

    hotkey: str
    status: Status
    place: float | None


def apply_round(
    scores: Scores,
    results: Sequence[PlacedMiner],
    base: float,
    params: ChunkingParams,
    group: int | None = None,
    groups: int | None = None,
) -> dict[str, float | None]:
    """Scores after one round, all computed from the scores before it."""
    ranked = sum(score is not None and score >= 0 for score in scores.values())
    middle = float(ranked // 2)
    alpha = group_alpha(params, group, groups)
    shared = Counter(result.place for result in results if result.status == "valid")
    after = dict(scores)
    for result in results:
        before = scores.get(result.hotkey)
        after[result.hotkey] = before
        if result.place is None or result.status == "unscored":
            continue
        if before is not None and before < 0:
            after[result.hotkey] = None
            continue
        rank = base + result.place
        if result.status == "valid":
            own = tie_alpha(alpha, shared[result.place], params)
            after[result.hotkey] = move_average(middle if before is None else before, rank, own)
        elif before is not None:
            after[result.hotkey] = max(before, move_average(before, rank, alpha))
    return after


def group_alpha(params: ChunkingParams, group: int | None, groups: int | None) -> float:
    if params.alpha_min is None or group is None or groups is None:
        return params.alpha
    if groups == 1:
        return params.alpha_min
    return params.alpha_min + (1 - params.alpha_min) * group / (groups - 1)


def tie_alpha(alpha: float, sharing: int, params: ChunkingParams) -> float:
    if params.tie_alpha == "halve":
        return math.ldexp(alpha, 1 - sharing)
    return alpha / sharing if params.tie_alpha == "divide" else alpha


def spread_ranks(params: ChunkingParams, course: Sequence[float]) -> float | None:
    """Where a group or a tie changes the weight of a rank, the course alone does not tell."""
    if params.alpha_min is not None or params.tie_alpha != "none":
        return None
    return spread_course(course, params.alpha)
