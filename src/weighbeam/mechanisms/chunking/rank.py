"""Places within a group, and the answer an organic asker gets (spec §§ 8, 9)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from weighbeam.core.ranking import Ties, place_values
from weighbeam.mechanisms.contract import Status


@dataclass(frozen=True, slots=True)
class Result:
    """One judged answer, as ranking sees it."""

    status: Status
    reward: float | None
    seconds: float = math.inf


@dataclass(frozen=True, slots=True)
class Ranked:
    places: tuple[float | None, ...]
    judged: int
    best: int | None


def rank_answers(results: Sequence[Result], ties: Ties) -> Ranked:
    """Valid answers by reward, failed ones all last, unscored ones nowhere.

    >>> rank_answers([Result("valid", 0.0), Result("failed", 0.0), Result("unscored", None)], "average").places
    (0.0, 1.0, None)
    """
    valid = [i for i, result in enumerate(results) if result.status == "valid"]
    rewards = [result.reward or 0.0 for result in results]
    judged = sum(result.status != "unscored" for result in results)
    places: list[float | None] = [float(judged - 1) if result.status == "failed" else None for result in results]
    for i, place in zip(valid, place_values([rewards[i] for i in valid], ties), strict=True):
        places[i] = place
    best = min(valid, key=lambda i: (-rewards[i], results[i].seconds, i), default=None)
    return Ranked(tuple(places), judged, best)
