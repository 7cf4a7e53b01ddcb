"""Do the measured answers agree? (spec § 8)"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.numbers import round_significant
from weighbeam.mechanisms.inference.agreement.filter import FilteredAnswers
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.text.words import Polarity
from weighbeam.mechanisms.inference.tolerance import exceeds, reaches


@dataclass(frozen=True, slots=True)
class ConsensusGroup:
    """Which answers consensus is measured over, and whether they are a consensus cluster."""

    members: tuple[int, ...]
    cluster: bool
    all_pairs: bool = False


@dataclass(frozen=True, slots=True)
class Consensus:
    """The agreement found. `inside` and `contradicting` are positions among the members measured."""

    mu: float
    sigma: float
    score: float
    agreement: float | None
    achieved: bool
    inside: tuple[int, ...]
    contradicting: tuple[int, ...]
    pool: float | None


def choose_measured(filtered: FilteredAnswers, quorum: float = 0.0) -> ConsensusGroup:
    """The dominant cluster if it holds the quorum of votes, else all that is kept, else the one voice there is, else
    nothing."""
    kept = tuple(np.flatnonzero(filtered.kept).tolist())
    held, votes = (float(filtered.vote[list(own)].sum()) for own in (filtered.dominant, kept))
    if _count_voices(filtered, filtered.dominant) >= 2 and reaches(held, quorum * votes):
        return ConsensusGroup(filtered.dominant, cluster=True)
    if _count_voices(filtered, kept) >= 2:
        return ConsensusGroup(kept, cluster=False)
    if len(kept) >= 2 and _count_voices(filtered, np.flatnonzero(filtered.heard).tolist()) == 1:
        return ConsensusGroup(kept, cluster=True, all_pairs=True)
    return ConsensusGroup((), cluster=False)


def measure_consensus(
    similarity: NDArray[np.float64],
    quality: NDArray[np.float64],
    vote: NDArray[np.float64],
    voice: NDArray[np.intp],
    polarity: Sequence[Polarity],
    cluster: bool,
    params: InferenceParams,
) -> Consensus:
    """Mean and spread over pairs of different voices (of a single voice: over all pairs), and what follows."""
    weight = quality * vote
    mu, sigma, paired = _weigh_pairs(similarity, weight, voice)
    score = round_significant(mu + params.lambda_factor * sigma)
    agreement, loser = _agree(weight, polarity) if params.polarity_clustering else (None, None)
    agreed = agreement is None or reaches(agreement, params.polarity_agreement)
    leaving = [i for i, label in enumerate(polarity) if cluster and agreed and label is not None and label == loser]
    staying = sorted(set(range(len(weight))).difference(leaving)) if cluster else []
    return Consensus(
        mu=mu,
        sigma=sigma,
        score=score,
        agreement=agreement,
        achieved=cluster and paired and agreed and exceeds(score, params.consensus_threshold),
        inside=tuple(staying),
        contradicting=tuple(leaving),
        pool=min(1.0, max(0.0, score)) if paired else None,
    )


def _weigh_pairs(
    similarity: NDArray[np.float64], weight: NDArray[np.float64], voice: NDArray[np.intp]
) -> tuple[float, float, bool]:
    """Weighted mean and deviation over pairs, and whether there is any pair."""
    paired = voice[:, None] != voice[None, :]
    if not paired.any():
        paired = ~np.eye(len(voice), dtype=bool)
    if len(voice) < 2:
        return 0.0, 0.0, False
    weights = np.where(paired, weight[:, None] * weight[None, :], 0.0)
    total = float(weights.sum())
    if total <= 0:
        weights, total = paired.astype(np.float64), float(paired.sum())
    mu = float((weights * similarity).sum()) / total
    variance = float((weights * (similarity - mu) ** 2).sum()) / total
    return round_significant(mu), round_significant(float(np.sqrt(variance))), True


def _agree(weight: NDArray[np.float64], polarity: Sequence[Polarity]) -> tuple[float | None, Polarity]:
    """The larger share of one label among the labelled, and the other label; equals fall to the smallest number."""
    labelled = [(float(weight[i]), label) for i, label in enumerate(polarity) if label is not None]
    if not labelled:
        return None, None
    if not any(value for value, _ in labelled):
        labelled = [(1.0, label) for _, label in labelled]
    yes = sum(value for value, label in labelled if label == "yes")
    share = yes / sum(value for value, _ in labelled)
    for_yes = labelled[0][1] == "yes" if not exceeds(abs(share - 0.5), 0.0) else share > 0.5
    return round_significant(max(share, 1 - share)), "no" if for_yes else "yes"


def _count_voices(filtered: FilteredAnswers, numbers: Sequence[int]) -> int:
    return len(set(filtered.voice[list(numbers)].tolist()))
