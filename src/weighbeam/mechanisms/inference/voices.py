"""One copy, one vote: which answers are the same text, and which the same operator (spec § 5)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanisms.inference.compare import EQUAL
from weighbeam.mechanisms.inference.components import join
from weighbeam.mechanisms.inference.params import InferenceParams


@dataclass(frozen=True, slots=True)
class Voices:
    """For each answer, by number: the smallest number of its content group and of its voice, its vote and its pay."""

    group: NDArray[np.intp]
    voice: NDArray[np.intp]
    vote: NDArray[np.float64]
    pay: NDArray[np.float64]


def find_voices(
    similarity: NDArray[np.float64],
    overlap: NDArray[np.float64] | None,
    words: NDArray[np.int64],
    entities: Sequence[str | None],
    params: InferenceParams,
) -> Voices:
    """Content groups and voices of unflagged answers. Without `overlap` no two texts have a triple in common."""
    alike = _find_alike(similarity, overlap, params)
    group = join(alike)
    owner = _number_entities(entities)
    voice = join(alike | ((owner[:, None] == owner[None, :]) & (owner >= 0)[:, None])) if (owner >= 0).any() else group
    full = (words < params.duplicate_min_words) | (len(set(voice.tolist())) == 1)
    return Voices(group, voice, 1 / _sizes(voice), np.where(full, 1.0, 1 / _sizes(group)))


def _find_alike(
    similarity: NDArray[np.float64], overlap: NDArray[np.float64] | None, params: InferenceParams
) -> NDArray[np.bool_]:
    close = similarity >= params.duplicate_cosine - EQUAL
    if overlap is None:
        nothing: NDArray[np.bool_] = close & (params.duplicate_overlap <= EQUAL)
        return nothing
    alike: NDArray[np.bool_] = (overlap >= 1 - EQUAL) | (close & (overlap >= params.duplicate_overlap - EQUAL))
    return alike


def _number_entities(entities: Sequence[str | None]) -> NDArray[np.intp]:
    """Equal numbers for equal entities, −1 for the unknown."""
    numbers: dict[str, int] = {}
    return np.array([-1 if e is None else numbers.setdefault(e, len(numbers)) for e in entities], dtype=np.intp)


def _sizes(label: NDArray[np.intp]) -> NDArray[np.int64]:
    counts: NDArray[np.int64] = np.bincount(label, minlength=len(label))[label]
    return counts
