"""Correct answers in a round with a reference, and their effect on comparisons and pay (spec § 17). Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanisms.inference.reference.truth import RIGHT
from weighbeam.mechanisms.inference.tolerance import reaches

Truth = float | None
"""From 0 (wrong) to 1 (right); None if it cannot be said."""
TruthFlags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TruthMarks:
    """Which answers are right and which wrong; those that cannot be judged are neither."""

    right: TruthFlags
    wrong: TruthFlags

    @classmethod
    def of(cls, truth: Sequence[Truth] | None, count: int) -> "TruthMarks":
        """Without a reference nobody is either.

        >>> TruthMarks.of([1.0, 0.0, None], 3).wrong.tolist()
        [False, True, False]
        """
        known = [None] * count if truth is None else truth
        right = np.array([one is not None and reaches(one, RIGHT) for one in known], dtype=bool)
        judged = np.array([one is not None for one in known], dtype=bool)
        return cls(right, judged & ~right)

    @property
    def mute(self) -> TruthFlags:
        """Answers without a vote: wrong ones and, if there is a right one, those that cannot be judged."""
        mute: TruthFlags = ~self.right if self.right.any() else self.wrong
        return mute

    def lift(self, quality: NDArray[np.float64], words: NDArray[np.int64], least: float) -> NDArray[np.float64]:
        """Qualities with those of right answers raised to what a flag asks for: who is right is never called thin."""
        lifted: NDArray[np.float64] = np.where(self.right & (words > 0), np.maximum(quality, least), quality)
        return lifted


def find_factor(truth: Truth, wrong_factor: float) -> float:
    """Share of its score that an answer keeps.

    >>> [find_factor(truth, 0.1) for truth in (1.0, 0.5, 0.0, None)]
    [1.0, 0.55, 0.1, 1.0]
    """
    return 1.0 if truth is None else round(wrong_factor + (1 - wrong_factor) * truth, 12)
