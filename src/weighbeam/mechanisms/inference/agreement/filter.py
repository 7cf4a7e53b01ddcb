"""From received answers to the dominant cluster: flag, count each voice once, remove outliers, cluster (spec §§ 4-7).

Answers are numbered in the order of their hotkeys, so that a smaller number is a smaller hotkey.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanisms.inference.agreement.clusters import (
    find_clusters,
    find_dominant,
    label_components,
    take_submatrix,
)
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.reference.marks import TruthMarks
from weighbeam.mechanisms.inference.text.kinds import Kind
from weighbeam.mechanisms.inference.tolerance import EQUAL

MAX_NEIGHBOURS = 20
VALUED = ("number", "short")
SHORT_DISTANCE = 0.65
"""Short answers that share nothing and do not contradict each other are 0.85 apart."""
MIN_REACH = 1e-12
BORROWED_FROM, BORROWED_TO = 0.7, 0.95
"""Shares of an answer's word triples that stand in earlier answers: up to here it is paid, from there on it is not."""


def measure_lof(similarity: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
    """The local outlier factor of each of three points or more; all points within the k-distance are neighbours.

    >>> measure_lof(np.full((4, 4), 0.5), 0.35).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    m = len(similarity)
    k = max(2, min(MAX_NEIGHBOURS, m // 2))
    distance = np.maximum(floor, np.sqrt(np.maximum(0.0, 2 - 2 * similarity)))
    np.fill_diagonal(distance, np.inf)
    k_distance = np.partition(distance, k - 1, axis=1)[:, k - 1]
    point, neighbour = np.nonzero(distance <= k_distance[:, None] + EQUAL)
    count = np.bincount(point)
    reach = np.bincount(point, np.maximum(distance[point, neighbour], k_distance[neighbour])) / count
    density = 1 / np.maximum(reach, MIN_REACH)
    lof: NDArray[np.float64] = np.bincount(point, density[neighbour]) / count / density
    return lof


def find_outliers(lof: NDArray[np.float64], quality: NDArray[np.float64], params: InferenceParams) -> NDArray[np.bool_]:
    """Far away and of less than typical quality: a good answer is never removed for being different."""
    protecting = min(params.high_quality, float(np.median(quality)))
    outliers: NDArray[np.bool_] = (lof - params.lof_limit > EQUAL) & (quality - protecting < -EQUAL)
    return outliers


def least_words(words: NDArray[np.int64], sensitivity: float) -> float:
    """How many words an answer needs beside these. One giant counts as twice the median.

    >>> least_words(np.array([40, 60, 50, 9000]), 0.5)
    32.5
    """
    typical = float(np.minimum(words, 2 * np.median(words)).mean())
    return typical * (1 - sensitivity)


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
    group = label_components(alike)
    owner = _number_entities(entities)
    voice = (
        label_components(alike | ((owner[:, None] == owner[None, :]) & (owner >= 0)[:, None]))
        if (owner >= 0).any()
        else group
    )
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


Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ReceivedAnswers:
    """The answers that arrived, by hotkey. Without `overlap` no two texts share three words in a row. `agreement` and
    the round's `kind` are there where answers were read by kind. In an `exact` round, at temperature 0, equal texts are
    what was asked for. `borrowed` is the share of an answer that earlier ones say word for word, and the share without
    versions of itself, if that counts."""

    hotkeys: tuple[str, ...]
    quality: NDArray[np.float64]
    words: NDArray[np.int64]
    entities: tuple[str | None, ...]
    similarity: NDArray[np.float64]
    overlap: NDArray[np.float64] | None = None
    agreement: NDArray[np.float64] | None = None
    kind: Kind | None = None
    exact: bool = False
    borrowed: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.hotkeys)

    @property
    def alike(self) -> NDArray[np.float64]:
        """How far each answer is supported by each other: by what they claim if that was read, else by cosine."""
        return self.similarity if self.agreement is None else self.agreement

    @property
    def bonds(self) -> NDArray[np.float64]:
        """Basis of clusters and consensus: whether answers have the same result, where a question has a value or a
        few words for its answer; else cosines."""
        if self.agreement is None or self.kind not in VALUED:
            return self.similarity
        bonds: NDArray[np.float64] = (self.agreement + self.agreement.T) / 2
        return bonds

    def name(self, numbers: Sequence[int] | NDArray[np.intp]) -> list[str]:
        return [self.hotkeys[number] for number in numbers]


@dataclass(frozen=True, slots=True)
class FilteredAnswers:
    """Outcome of the filter. `group`, `voice` (smallest numbers), `vote` and `pay` mean nothing where flagged."""

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
    wrong: Flags

    @property
    def heard(self) -> Flags:
        """Answers that are compared: neither flagged nor known to be wrong."""
        heard: Flags = ~(self.flagged | self.wrong)
        return heard

    @property
    def kept(self) -> Flags:
        kept: Flags = self.heard & ~(self.outlier | self.short)
        return kept

    def list_groups(self) -> list[list[int]]:
        """Content groups of two or more."""
        members: dict[int, list[int]] = {}
        for number in np.flatnonzero(~self.flagged).tolist():
            members.setdefault(int(self.group[number]), []).append(number)
        return [group for _, group in sorted(members.items()) if len(group) > 1]


def flag_answers(received: ReceivedAnswers, params: InferenceParams) -> Flags:
    """Answers of too little quality, or without a word."""
    flagged: Flags = (received.quality - params.quality_threshold < -EQUAL) | (received.words == 0)
    return flagged


def filter_answers(
    received: ReceivedAnswers, params: InferenceParams, marks: TruthMarks | None = None
) -> FilteredAnswers:
    """Everything of §§ 4-7 that compares answers; with a reference, without those that are wrong."""
    marks = marks or TruthMarks.of(None, len(received))
    flagged = flag_answers(received, params)
    wrong = marks.wrong & ~flagged
    silent = flagged | wrong
    group, voice, vote, pay = _hear(received, np.flatnonzero(~silent), params)
    if wrong.any():
        group, pay = _pay_wrong(received, wrong, group, pay, params)
    vote = np.where(marks.mute, 0.0, vote)
    pay = np.minimum(pay, _pay_own_words(received, group, params))
    numbers = np.arange(len(received))
    speaking = numbers[~silent & (group == numbers)]
    lof, outlier = _remove_outliers(received, speaking, params)
    speaking = speaking[~outlier[speaking]]
    min_words, short = _remove_short(received, speaking, params)
    speaking = speaking[~short[speaking]]
    outlier, short = outlier[group] & ~silent, short[group] & ~silent
    clusters = _cluster(received, speaking, group, silent, params)
    dominant = find_dominant(clusters, received.quality, vote)
    return FilteredAnswers(
        flagged=flagged,
        group=group,
        voice=voice,
        vote=vote,
        pay=pay,
        lof=lof,
        outlier=outlier,
        min_words=min_words,
        short=short,
        clusters=tuple(map(tuple, clusters)),
        dominant=tuple(dominant),
        wrong=wrong,
    )


def _hear(
    received: ReceivedAnswers, heard: NDArray[np.intp], params: InferenceParams
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
    """Groups, voices, votes and pays, with a number of its own and nothing else for the flagged."""
    overlap = None if received.overlap is None else take_submatrix(received.overlap, heard)
    entities = [received.entities[number] for number in heard]
    if overlap is not None and received.kind is not None:
        overlap = _spare_short(overlap, received.words[heard], params.duplicate_min_words)
        if received.kind == "code":
            alike = _spare_short(overlap, received.words[heard], params.duplicate_min_code_words)
            overlap = np.where(overlap >= 1 - EQUAL, overlap, alike)
    voices = find_voices(take_submatrix(received.similarity, heard), overlap, received.words[heard], entities, params)
    group, voice = np.arange(len(received)), np.arange(len(received))
    vote, pay = np.zeros(len(received)), np.zeros(len(received))
    group[heard], voice[heard] = heard[voices.group], heard[voices.voice]
    vote[heard], pay[heard] = voices.vote, (1.0 if received.exact else voices.pay)
    return group, voice, vote, pay


def _spare_short(overlap: NDArray[np.float64], words: NDArray[np.int64], least: int) -> NDArray[np.float64]:
    """Without the overlaps of answers so short that two who know the answer write the same."""
    long = words >= least
    spared: NDArray[np.float64] = np.where(long[:, None] & long[None, :], overlap, 0.0)
    return spared


def _pay_wrong(
    received: ReceivedAnswers,
    wrong: Flags,
    group: NDArray[np.intp],
    pay: NDArray[np.float64],
    params: InferenceParams,
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Groups and pays with those of wrong answers, found apart: a right answer with one figure changed is alike, and
    must not share its pay. Copies of a wrong answer always share one."""
    theirs = _hear(received, np.flatnonzero(wrong), params)[0]
    group = np.where(wrong, theirs, group)
    full = (received.words < params.duplicate_min_words) | received.exact
    return group, np.where(wrong, np.where(full, 1.0, 1 / _sizes(group)), pay)


def _pay_own_words(received: ReceivedAnswers, group: NDArray[np.intp], params: InferenceParams) -> NDArray[np.float64]:
    """Pay that answers made of earlier ones keep; a few common words are allowed. Copies share one
    pay already."""
    if received.borrowed is None or received.exact:
        return np.ones(len(received))
    taken = np.where(_sizes(group) > 1, received.borrowed[:, 1], received.borrowed[:, 0])
    left = 1 - np.clip((taken - BORROWED_FROM) / (BORROWED_TO - BORROWED_FROM), 0.0, 1.0)
    return np.where(received.words < params.duplicate_min_words, 1.0, np.round(left, 12))


def _remove_outliers(
    received: ReceivedAnswers, speaking: NDArray[np.intp], params: InferenceParams
) -> tuple[dict[int, float], Flags]:
    outlier = np.zeros(len(received), dtype=bool)
    if not params.outlier_detection or received.kind not in (None, "open") or len(speaking) < params.lof_min_voices:
        return {}, outlier
    lof = measure_lof(take_submatrix(received.similarity, speaking), params.lof_floor)
    outlier[speaking] = find_outliers(lof, received.quality[speaking], params)
    return dict(zip(speaking.tolist(), lof.tolist(), strict=True)), outlier


def _remove_short(
    received: ReceivedAnswers, speaking: NDArray[np.intp], params: InferenceParams
) -> tuple[float | None, Flags]:
    short = np.zeros(len(received), dtype=bool)
    if not params.quality_filtering or received.kind is not None or not len(speaking):
        return None, short
    least = least_words(received.words[speaking], params.quality_sensitivity)
    short[speaking] = least - received.words[speaking] > EQUAL
    return least, short


def _cluster(
    received: ReceivedAnswers,
    speaking: NDArray[np.intp],
    group: NDArray[np.intp],
    flagged: Flags,
    params: InferenceParams,
) -> list[list[int]]:
    """Clusters of representatives, each followed by its group."""
    loose = params.model_copy(update={"cluster_distance": SHORT_DISTANCE}) if received.kind == "short" else params
    found = find_clusters(take_submatrix(received.bonds, speaking), loose)
    label = np.full(len(received), -1)
    for number, cluster in enumerate(found):
        label[speaking[cluster]] = number
    label = np.where(flagged, -1, label[group])
    order = np.argsort(label, kind="stable")
    order = order[label[order] >= 0]
    parts = np.split(order, np.flatnonzero(np.diff(label[order])) + 1) if len(order) else []
    return sorted(part.tolist() for part in parts)
