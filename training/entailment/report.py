"""How good a judge is: accuracy, what it takes for what, and whether its confidence can be believed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairs import LABELS

BINS = 15


@dataclass(frozen=True)
class Outcome:
    """Rows of one source: `probabilities` (n, 3), `labels` (n)."""

    probabilities: NDArray[np.float64]
    labels: NDArray[np.int64]

    @property
    def chosen(self) -> NDArray[np.int64]:
        return self.probabilities.argmax(axis=1)

    @property
    def accuracy(self) -> float:
        return float((self.chosen == self.labels).mean())

    @property
    def confusion(self) -> list[list[int]]:
        """Rows: the label; columns: what the judge chose."""
        return [[int(((self.labels == a) & (self.chosen == b)).sum()) for b in range(3)] for a in range(3)]

    @property
    def calibration_error(self) -> float:
        """Expected calibration error over 15 bins of the confidence in the chosen class."""
        confidence = self.probabilities.max(axis=1)
        right = self.chosen == self.labels
        bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
        gaps = [abs(confidence[bins == b].sum() - right[bins == b].sum()) for b in range(BINS)]
        return float(sum(gaps) / len(right))


def describe(outcome: Outcome) -> dict[str, Any]:
    return {
        "pairs": len(outcome.labels),
        "accuracy": round(outcome.accuracy, 4),
        "calibration_error": round(outcome.calibration_error, 4),
        "mean_confidence": round(float(outcome.probabilities.max(axis=1).mean()), 4),
        "confusion": dict(zip(LABELS, outcome.confusion, strict=True)),
    }


def split_by(names: Sequence[str], outcome: Outcome) -> dict[str, Outcome]:
    every = np.array(names)
    return {
        str(name): Outcome(outcome.probabilities[every == name], outcome.labels[every == name])
        for name in sorted(set(names))
    }
