"""The score of an answer, 0 to 100, in five parts (spec § 9)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.numbers import is_number
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.tolerance import reaches

POINTS = ("similarity", "quality", "confidence", "consensus", "diversity")
SIMILARITY, QUALITY, CONFIDENCE, MEMBER = 40.0, 25.0, 15.0, 10.0
REACHABLE = SIMILARITY + QUALITY + MEMBER
UNKNOWN_CONFIDENCE = 0.5


@dataclass(frozen=True, slots=True)
class Standpoint:
    """Where an unflagged answer stands in its round. Where answers were read by kind, `typical` is how near to others
    the members of the consensus are, and `rank`, if claims are held against it, the share of others that it beats."""

    near: float
    quality: float
    confidence: float
    member: bool
    removed: str | None
    diverse: bool
    typical: float | None = None
    rank: float | None = None


def parse_confidence(claim: object, params: InferenceParams) -> float:
    """Confidence that a miner claims, clipped to [0, 1].

    >>> [parse_confidence(claim, InferenceParams()) for claim in (0.9, -3, 7, None, "1", float("nan"))]
    [0.9, 0.0, 1.0, 0.5, 0.5, 0.5]
    """
    if not params.weighted_scoring or not is_number(claim):
        return UNKNOWN_CONFIDENCE
    return min(1.0, max(0.0, float(claim)))


def rate_claim(claim: float, rank: float | None) -> float:
    """Value of a claimed confidence: itself; or, compared with the share of others that the answer beats, most if
    it is that share, and a half if nothing is claimed.

    >>> rate_claim(0.9, None), rate_claim(0.5, 0.1), rate_claim(1.0, 0.5), rate_claim(1.0, 1.0)
    (0.9, 0.5, 0.25, 0.75)
    """
    if rank is None:
        return claim
    claimed, beaten = claim - 0.5, rank - 0.5
    return round(max(0.0, 0.5 + 2 * claimed * beaten - claimed**2), 12)


def rank_points(points: Sequence[float]) -> list[float]:
    """Of each, the share of the others that it beats; equals beat each other by half.

    >>> rank_points([3.0, 1.0, 1.0]), rank_points([2.0])
    ([1.0, 0.25, 0.25], [0.5])
    """
    others = len(points) - 1
    if others < 1:
        return [UNKNOWN_CONFIDENCE] * len(points)
    rounded = [round(own, 9) for own in points]
    return [sum(own > other for other in rounded) / others + (rounded.count(own) - 1) / (2 * others) for own in rounded]


def measure_near(
    similarity: NDArray[np.float64],
    vote: NDArray[np.float64],
    apart: NDArray[np.integer],
    peers: NDArray[np.bool_],
    quality: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Each answer's mean cosine to the peers whose mark in `apart` is another than its own; without any, its quality.

    >>> cosines = np.array([[1, 0.5, 0.7], [0.5, 1, 0.9], [0.7, 0.9, 1]])
    >>> measure_near(cosines, np.ones(3), np.arange(3), np.array([True, True, False]), np.full(3, 0.4)).tolist()
    [0.5, 0.5, 0.8]
    """
    weights = np.where(apart[:, None] != apart[None, :], np.where(peers, vote, 0.0)[None, :], 0.0)
    total = weights.sum(axis=1)
    alone = total <= 0
    mean = (weights * similarity).sum(axis=1) / np.where(alone, 1.0, total)
    near: NDArray[np.float64] = np.where(alone, quality, np.round(np.clip(mean, 0.0, 1.0), 12))
    return near


def compose_parts(stands: Standpoint, params: InferenceParams) -> dict[str, Any]:
    """The five parts in points, and the factors they are made of."""
    near = stands.near
    penalty = params.out_penalty if stands.removed is not None and not stands.diverse else 1.0
    return {
        "similarity": SIMILARITY * near * penalty,
        "quality": QUALITY * stands.quality,
        "confidence": CONFIDENCE * rate_claim(stands.confidence, stands.rank),
        "consensus": MEMBER if stands.member else 0.0,
        "diversity": _diversity(stands, params) if stands.diverse else 0.0,
        "near": near,
        "penalty": penalty,
        **({} if stands.typical is None else {"typical": stands.typical}),
        **({} if stands.rank is None else {"rank": stands.rank}),
    }


def _diversity(stands: Standpoint, params: InferenceParams) -> float:
    """An answer without any support is off the point, not diverse; and leaving the consensus never gains more
    than staying in it."""
    limit, near = params.diversity_max, stands.near
    if stands.typical is not None:
        supported = min(1.0, near / stands.typical) if stands.typical > 0 else 0.0
        return min(MEMBER, 100 * limit * (1 - near) * supported)
    earned = limit * (1 - near) * (stands.quality / params.high_quality if params.high_quality else 1.0)
    return 100 * min(limit, earned)


def sum_parts(parts: Mapping[str, Any]) -> float:
    """The score from its parts: their sum, and what the truth leaves of it where that is known.

    >>> sum_parts({"similarity": 30.4, "quality": 15.5, "confidence": 7.5, "consensus": 10.0, "diversity": 0.0})
    63.4
    """
    points = round(min(100.0, max(0.0, math.fsum(parts[name] for name in POINTS))), 12)
    return round(points * parts["truth_factor"], 12) if "truth_factor" in parts else points


def find_best(scores: Sequence[tuple[str, float, float]]) -> str | None:
    """Of (hotkey, score, seconds): the highest score, then the fewest seconds, then the smallest hotkey."""
    ordered = sorted((-round(score, 9), seconds, hotkey) for hotkey, score, seconds in scores)
    return ordered[0][2] if ordered else None


def lacks_confidence(score: float, confidence: float, ranked: bool, params: InferenceParams) -> bool:
    """Is the best answer below what a member with its confidence could reach, times the threshold?"""
    claim = rate_claim(confidence, 1.0 if ranked else None)
    return not reaches(score, params.score_threshold * (REACHABLE + CONFIDENCE * claim))
