"""Which of some texts speak of a question: BM25, the usual first stage of a search, in a few lines of numpy."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanisms.evidence.forms import read_forms

FREQUENCY = 1.2
LENGTH = 0.75
STEM = 5


def read_terms(text: str) -> list[str]:
    """Words cut to their first letters, so that `tides` finds `tide` and `recycled` finds `recycling`.

    >>> read_terms("Tides rise; the tidal range")
    ['tides', 'rise', 'the', 'tidal', 'range']
    """
    return [form[:STEM] for form in read_forms(text)]


class Bm25:
    """Texts by their words, ready to be searched."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(read_terms(text)) for text in texts]
        lengths = np.array([count.total() for count in counts], dtype=np.float64)
        self._size = len(counts)
        self._damping = FREQUENCY * (
            1 - LENGTH + LENGTH * lengths / max(1.0, float(lengths.sum()) / max(1, len(counts)))
        )
        self._places: dict[str, list[tuple[int, int]]] = {}
        for place, count in enumerate(counts):
            for term, times in count.items():
                self._places.setdefault(term, []).append((place, times))

    def score(self, question: str) -> NDArray[np.float64]:
        """One number per text; 0 for a text without any word of the question.

        >>> Bm25(["the sea", "the moon", "the sun"]).score("moon").argmax().item()
        1
        """
        scores = np.zeros(self._size)
        for term in sorted(set(read_terms(question))):
            found = self._places.get(term, [])
            if not found:
                continue
            places, times = np.array(found).T
            rarity = math.log(1 + (self._size - len(found) + 0.5) / (len(found) + 0.5))
            scores[places] += rarity * times * (FREQUENCY + 1) / (times + self._damping[places])
        return scores
