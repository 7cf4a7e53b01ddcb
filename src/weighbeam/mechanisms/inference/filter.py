"""From received answers to the dominant cluster: flag, hear each voice once, remove, cluster (spec §§ 4-7).

Answers are numbered in the order of their hotkeys, so that a smaller number is a smaller hotkey.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanisms.inference.clusters import find_clusters, find_dominant
from weighbeam.mechanisms.inference.compare import EQUAL
from weighbeam.mechanisms.inference.components import take
from weighbeam.mechanisms.inference.outliers import find_outliers, least_words, measure_lof
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.voices import find_voices

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Received:
    """The answers that arrived, by hotkey. Without `overlap` no two texts share three words in a row."""

    hotkeys: tuple[str, ...]
    quality: NDArray[np.float64]
    words: NDArray[np.int64]
    entities: tuple[str | None, ...]
    similarity: NDArray[np.float64]
    overlap: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.hotkeys)

    def name(self, numbers: Sequence[int] | NDArray[np.intp]) -> list[str]:
        return [self.hotkeys[number] for number in numbers]


@dataclass(frozen=True, slots=True)
class Filtered:
    """What became of each answer. `group`, `voice` (smallest numbers), `vote` and `pay` mean nothing where flagged."""

    flagged: Flags
    group: NDArray[np.intp]
    voice: NDArray[np.intp]
    vote: NDArray[np.float64]
    pay: NDArray[np.float64]
    lof: dict[int, float]
    outlier: Flags
    min_words: float | None
    short: Flags
    clusters: tuple[tuple[int, ...], ...]
    dominant: tuple[int, ...]

    @property
    def kept(self) -> Flags:
        kept: Flags = ~(self.flagged | self.outlier | self.short)
        return kept

    def list_groups(self) -> list[list[int]]:
        """Content groups of two or more."""
        members: dict[int, list[int]] = {}
        for number in np.flatnonzero(~self.flagged).tolist():
            members.setdefault(int(self.group[number]), []).append(number)
        return [group for _, group in sorted(members.items()) if len(group) > 1]


def flag_answers(received: Received, params: InferenceParams) -> Flags:
    """Answers of too little quality, or without a word."""
    flagged: Flags = (received.quality - params.quality_threshold < -EQUAL) | (received.words == 0)
    return flagged


def filter_answers(received: Received, params: InferenceParams) -> Filtered:
    """Everything of §§ 4-7 that compares answers."""
    flagged = flag_answers(received, params)
    group, voice, vote, pay = _hear(received, np.flatnonzero(~flagged), params)
    numbers = np.arange(len(received))
    speaking = numbers[~flagged & (group == numbers)]
    lof, outlier = _remove_outliers(received, speaking, params)
    speaking = speaking[~outlier[speaking]]
    min_words, short = _remove_short(received, speaking, params)
    speaking = speaking[~short[speaking]]
    outlier, short = outlier[group] & ~flagged, short[group] & ~flagged
    clusters = _cluster(received, speaking, group, flagged, params)
    dominant = find_dominant(clusters, received.quality, vote)
    return Filtered(
        flagged, group, voice, vote, pay, lof, outlier, min_words, short, tuple(map(tuple, clusters)), tuple(dominant)
    )


def _hear(
    received: Received, heard: NDArray[np.intp], params: InferenceParams
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
    """Groups, voices, votes and pays, with a number of its own and nothing else for the flagged."""
    overlap = None if received.overlap is None else take(received.overlap, heard)
    entities = [received.entities[number] for number in heard]
    voices = find_voices(take(received.similarity, heard), overlap, received.words[heard], entities, params)
    group, voice = np.arange(len(received)), np.arange(len(received))
    vote, pay = np.zeros(len(received)), np.zeros(len(received))
    group[heard], voice[heard] = heard[voices.group], heard[voices.voice]
    vote[heard], pay[heard] = voices.vote, voices.pay
    return group, voice, vote, pay


def _remove_outliers(
    received: Received, speaking: NDArray[np.intp], params: InferenceParams
) -> tuple[dict[int, float], Flags]:
    outlier = np.zeros(len(received), dtype=bool)
    if not params.outlier_detection or len(speaking) < params.lof_min_voices:
        return {}, outlier
    lof = measure_lof(take(received.similarity, speaking), params.lof_floor)
    outlier[speaking] = find_outliers(lof, received.quality[speaking], params)
    return dict(zip(speaking.tolist(), lof.tolist(), strict=True)), outlier


def _remove_short(
    received: Received, speaking: NDArray[np.intp], params: InferenceParams
) -> tuple[float | None, Flags]:
    short = np.zeros(len(received), dtype=bool)
    if not params.quality_filtering or not len(speaking):
        return None, short
    least = least_words(received.words[speaking], params.quality_sensitivity)
    short[speaking] = least - received.words[speaking] > EQUAL
    return least, short


def _cluster(
    received: Received, speaking: NDArray[np.intp], group: NDArray[np.intp], flagged: Flags, params: InferenceParams
) -> list[list[int]]:
    """Clusters of representatives, each followed by its group."""
    found = find_clusters(take(received.similarity, speaking), params)
    label = np.full(len(received), -1)
    for number, cluster in enumerate(found):
        label[speaking[cluster]] = number
    label = np.where(flagged, -1, label[group])
    order = np.argsort(label, kind="stable")
    order = order[label[order] >= 0]
    parts = np.split(order, np.flatnonzero(np.diff(label[order])) + 1) if len(order) else []
    return sorted(part.tolist() for part in parts)
