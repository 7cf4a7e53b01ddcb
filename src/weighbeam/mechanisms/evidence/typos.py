"""Which words of a page are one slip of the hand away from a word of the excerpt (spec § 7)."""

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from weighbeam.mechanisms.evidence.page_tokens import Vocabulary


def find_typos(vocabulary: Vocabulary, form: str, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of `numbers` whose forms are one substitution, insertion, deletion or swap of neighbours from `form`.

    >>> found = find_typos(Vocabulary(["near", "nears", "neat", "bear", "nae"]), "naer", np.arange(5))
    >>> found.tolist()
    [0]
    """
    close = (
        vocabulary.mistypable[numbers]
        & (vocabulary.initials[numbers] == ord(form[0]))
        & (np.abs(vocabulary.lengths[numbers] - len(form)) <= 1)
    )
    numbers = numbers[close]
    if not numbers.size:
        return numbers
    words = [vocabulary.forms[number] for number in numbers.tolist()]
    distances = cdist([form], words, scorer=OSA.distance, score_cutoff=1, dtype=np.uint8)
    one: NDArray[np.bool_] = distances[0] == 1
    return numbers[one]
