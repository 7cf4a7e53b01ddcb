"""How well numbers agree with labels, each figure with a 95 % interval.

A share has Wilson's interval. Everything else has a bootstrap: cases (rows, or whole rounds where several numbers hang
together) are drawn again with replacement. Each statistic is a function of how often every case was drawn, so one
definition gives the figure, where each case counts once, and all of its draws at once.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from weighbeam.lab.simulate.measure import Interval, estimate_share

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""From (draws, cases) counts to one value for each draw; NaN where a draw cannot be measured."""

DRAWS = 1000
CELLS = 4_000_000
"""Counts held in memory at once."""
BINS = 10
SURE = 0.9
TOLERANCE = 1e-9
"""Scores that differ by less are equal."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One figure, its interval, and how many cases it rests on; `is_share` if it is shown in per cent."""

    value: float
    low: float
    high: float
    cases: int
    is_share: bool = True


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often each label (a row) was called what (a column)."""

    labels: tuple[str, ...]
    called: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """The cases judged with a confidence between `low` and `high`: their mean confidence, the share of right ones."""

    low: float
    high: float
    cases: int
    confidence: float
    right: float


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures of one set of rows; those that cannot be measured are left out."""

    findings: Mapping[str, Finding]
    confusion: Confusion | None = None
    calibration: tuple[CalibrationBin, ...] = ()


@dataclass(slots=True)
class Findings:
    """Collects figures by name; `chance` draws for those that need it."""

    chance: np.random.Generator
    found: dict[str, Finding] = field(default_factory=dict)

    def share(self, name: str, hits: Iterable[bool]) -> None:
        """With Wilson's interval."""
        values = [bool(hit) for hit in hits]
        if values:
            got = estimate_share(sum(values) / len(values), len(values))
            self.found[name] = Finding(got.value, got.low, got.high, len(values))

    def draw(self, name: str, statistic: Statistic, cases: int, is_share: bool = True) -> None:
        """With an interval by drawing `cases` again; where all draws of a share agree, Wilson's, which has a width."""
        got = estimate(statistic, cases, self.chance)
        if got is not None and is_share and got.low == got.high and 0 <= got.value <= 1:
            got = estimate_share(got.value, cases)
        if got is not None:
            self.found[name] = Finding(got.value, got.low, got.high, cases, is_share)


def estimate(statistic: Statistic, cases: int, chance: np.random.Generator, draws: int = DRAWS) -> Interval | None:
    """The statistic and its percentile interval; None if it cannot be measured.

    >>> chance = np.random.default_rng(0)
    >>> estimate(mean_of([1.0, 1.0, 1.0]), 3, chance), estimate(mean_of([]), 0, chance)
    (Interval(value=1.0, low=1.0, high=1.0), None)
    """
    if not cases:
        return None
    value = float(statistic(np.ones((1, cases)))[0])
    if not math.isfinite(value):
        return None
    block = max(1, CELLS // cases)
    drawn = np.concatenate(
        [statistic(_draw_counts(min(block, draws - done), cases, chance)) for done in range(0, draws, block)]
    )
    drawn = drawn[np.isfinite(drawn)]
    low, high = np.quantile(drawn, (0.025, 0.975)) if len(drawn) else (value, value)
    return Interval(value, min(value, float(low)), max(value, float(high)))


def _draw_counts(draws: int, cases: int, chance: np.random.Generator) -> Floats:
    return chance.multinomial(cases, np.full(cases, 1 / cases), size=draws).astype(np.float64)


def mean_of(values: Sequence[float] | Floats, sizes: Sequence[float] | Floats | None = None) -> Statistic:
    """The sum of `values` over the sum of `sizes`, which are 1 unless a case is a cluster of several.

    >>> float(mean_of([3.0, 1.0], [4.0, 4.0])(np.ones((1, 2)))[0])
    0.5
    """
    tops = np.asarray(values, dtype=np.float64)
    bottoms = np.ones_like(tops) if sizes is None else np.asarray(sizes, dtype=np.float64)
    return lambda counts: _divide(counts @ tops, counts @ bottoms)


def auc_of(values: Sequence[float] | Floats, positive: Sequence[bool]) -> Statistic:
    """How often a positive case has a higher value than another one, ties counting half.

    >>> float(auc_of([0.1, 0.4, 0.4, 0.9], [False, False, True, True])(np.ones((1, 4)))[0])
    0.875
    """
    given, is_positive = np.asarray(values, dtype=np.float64), np.asarray(positive, dtype=bool)
    order = np.argsort(given, kind="stable")
    ranked = given[order]
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]]) if len(ranked) else np.zeros(0, np.intp)
    above, below = is_positive[order], ~is_positive[order]

    def measure(counts: Floats) -> Floats:
        if not above.any() or not below.any():
            return np.full(len(counts), np.nan)
        sorted_counts = counts[:, order]
        wins = np.add.reduceat(sorted_counts * above, starts, axis=1)
        losses = np.add.reduceat(sorted_counts * below, starts, axis=1)
        beaten = np.cumsum(losses, axis=1) - losses / 2
        return _divide((wins * beaten).sum(axis=1), wins.sum(axis=1) * losses.sum(axis=1))

    return measure


def macro_f1_of(labels: Sequence[str], called: Sequence[str]) -> Statistic:
    """The mean over all labels of F1, the harmonic mean of precision and recall.

    >>> round(float(macro_f1_of(["a", "a", "b"], ["a", "b", "b"])(np.ones((1, 3)))[0]), 6)
    0.666667
    """
    names = sorted(set(labels))
    is_label = np.array([[label == name for name in names] for label in labels], dtype=np.float64)
    is_called = np.array([[name == one for name in names] for one in called], dtype=np.float64)

    def measure(counts: Floats) -> Floats:
        both = _divide(2 * counts @ (is_label * is_called), counts @ (is_label + is_called))
        known = np.isfinite(both)
        return _divide(np.where(known, both, 0.0).sum(axis=1), known.sum(axis=1))

    return measure


def ratio_of(values: Sequence[float] | Floats, marked: Sequence[bool]) -> Statistic:
    """The mean of the marked over the mean of the others.

    >>> float(ratio_of([3.0, 1.0, 1.0], [True, False, False])(np.ones((1, 3)))[0])
    3.0
    """
    given, mask = np.asarray(values, dtype=np.float64), np.asarray(marked, dtype=np.float64)
    top, bottom = mean_of(given * mask, mask), mean_of(given * (1 - mask), 1 - mask)
    return lambda counts: _divide(top(counts), bottom(counts))


def calibration_error_of(confidence: Floats, right: Sequence[bool]) -> Statistic:
    """Expected calibration error: how far confidence is from the share of right ones, over ten bins by their size.

    >>> round(float(calibration_error_of(np.array([0.95, 0.95]), [True, False])(np.ones((1, 2)))[0]), 6)
    0.45
    """
    inside = _place_in_bins(confidence)
    gaps = inside * (confidence - np.asarray(right, dtype=np.float64))[:, None]
    return lambda counts: _divide(np.abs(counts @ gaps).sum(axis=1), counts.sum(axis=1))


def calibrate(confidence: Floats, right: Sequence[bool]) -> tuple[CalibrationBin, ...]:
    """The bins that hold a case."""
    inside, hits = _place_in_bins(confidence), np.asarray(right, dtype=np.float64)
    sizes, sums, rights = inside.sum(axis=0), confidence @ inside, hits @ inside
    return tuple(
        CalibrationBin(i / BINS, (i + 1) / BINS, int(n), float(sums[i] / n), float(rights[i] / n))
        for i, n in enumerate(sizes)
        if n
    )


def _place_in_bins(confidence: Floats) -> Floats:
    """(cases, bins) of 0 and 1; a confidence of 1 is in the last."""
    places = np.minimum((confidence * BINS + TOLERANCE).astype(np.intp), BINS - 1)
    return np.eye(BINS, dtype=np.float64)[places]


def _divide(above: Floats, below: Floats) -> Floats:
    """NaN where there is nothing to divide by."""
    found: Floats = np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below != 0)
    return found


def count_confusion(labels: Sequence[str], called: Sequence[str], names: Sequence[str]) -> Confusion:
    """In the order of `names`; labels that no case has are left out.

    >>> count_confusion(["a", "b"], ["a", "a"], ["a", "b", "c"])
    Confusion(labels=('a', 'b'), called=('a', 'b', 'c'), counts=((1, 0, 0), (1, 0, 0)))
    """
    seen, times = set(labels), Counter(zip(labels, called, strict=True))
    down = tuple(name for name in names if name in seen)
    return Confusion(down, tuple(names), tuple(tuple(times[label, one] for one in names) for label in down))


def compare(better: float, worse: float) -> float:
    """1 if the better has more, 0 if it has less, ½ if they are equal.

    >>> compare(2.0, 1.0), compare(1.0, 1.0), compare(0.0, 1.0)
    (1.0, 0.5, 0.0)
    """
    return 1.0 if better > worse + TOLERANCE else 0.5 if better >= worse - TOLERANCE else 0.0


def average_sets(sets: Sequence[Mapping[str, Finding]]) -> dict[str, Finding]:
    """The mean of each figure over the sets that have it, each set counting the same.

    Sets are independent of each other, so the distances to the ends of their intervals add up as squares do (Zou and
    Donner's MOVER); two figures of the same interval have one narrower by √2.

    >>> average_sets([{"x": Finding(0.4, 0.1, 0.7, 9)}, {"x": Finding(0.6, 0.2, 1.0, 9)}])["x"]
    Finding(value=0.5, low=0.25, high=0.75, cases=18, is_share=True)
    """
    means = {}
    for name in dict.fromkeys(name for one in sets for name in one):
        found = [one[name] for one in sets if name in one]
        middle = math.fsum(one.value for one in found) / len(found)
        below = math.hypot(*(one.value - one.low for one in found)) / len(found)
        above = math.hypot(*(one.high - one.value for one in found)) / len(found)
        cases = sum(one.cases for one in found)
        means[name] = Finding(middle, middle - below, middle + above, cases, found[0].is_share)
    return means


def join_confusions(found: Sequence[Confusion | None]) -> Confusion | None:
    """All sets together."""
    known = [one for one in found if one is not None]
    labels = tuple(dict.fromkeys(label for one in known for label in one.labels))
    called = tuple(dict.fromkeys(name for one in known for name in one.called))
    sums = dict.fromkeys(((label, name) for label in labels for name in called), 0)
    for one in known:
        for label, row in zip(one.labels, one.counts, strict=True):
            for name, count in zip(one.called, row, strict=True):
                sums[label, name] += count
    return Confusion(labels, called, tuple(tuple(sums[a, b] for b in called) for a in labels)) if known else None


def join_calibrations(found: Sequence[Sequence[CalibrationBin]]) -> tuple[CalibrationBin, ...]:
    """All cases of all sets, bin by bin."""
    joined = []
    for low in sorted({one.low for bins in found for one in bins}):
        same = [one for bins in found for one in bins if one.low == low]
        cases = sum(one.cases for one in same)
        confidence = math.fsum(one.cases * one.confidence for one in same) / cases
        right = math.fsum(one.cases * one.right for one in same) / cases
        joined.append(CalibrationBin(low, same[0].high, cases, confidence, right))
    return tuple(joined)
