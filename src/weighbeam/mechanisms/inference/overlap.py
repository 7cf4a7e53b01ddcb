"""How much two texts share word for word: Jaccard of their sets of word triples (spec § 5)."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanisms.inference.counts import Text, Triple


def number_wordings(texts: Sequence[Text]) -> list[int]:
    """Texts with equal word lists share the number of the first of them.

    >>> number_wordings([Text("Yes."), Text("No!"), Text("yes")])
    [0, 1, 0]
    """
    first: dict[tuple[str, ...], int] = {}
    return [first.setdefault(tuple(text.words), number) for number, text in enumerate(texts)]


def count_shared(texts: Sequence[Text]) -> Iterator[tuple[int, int, int]]:
    """(i, j, triples in common) of every pair i < j that has any. Only triples met twice are ever compared."""
    met: Counter[Triple] = Counter()
    for text in texts:
        met.update(text.triples)
    common = [frozenset(triple for triple in text.triples if met[triple] > 1) for text in texts]
    busy = [number for number, triples in enumerate(common) if triples]
    for at, i in enumerate(busy):
        for j in busy[at + 1 :]:
            shared = len(common[i] & common[j])
            if shared:
                yield i, j, shared


def fill_overlaps(sizes: Sequence[int], wordings: Sequence[int], shared: NDArray[np.integer]) -> NDArray[np.float64]:
    """The matrix of overlaps from each text's number of distinct triples, its wording, and rows (i, j, shared).

    >>> fill_overlaps([4, 2], [0, 1], np.array([[0, 1, 2]])).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    same = np.asarray(wordings)
    overlap: NDArray[np.float64] = (same[:, None] == same[None, :]).astype(np.float64)
    i, j, common = shared.reshape(-1, 3).T
    size = np.asarray(sizes, dtype=np.int64)
    jaccard = common / (size[i] + size[j] - common)
    overlap[i, j] = np.maximum(overlap[i, j], jaccard)
    overlap[j, i] = overlap[i, j]
    return overlap


def compare_texts(texts: Sequence[Text]) -> NDArray[np.float64]:
    """The overlaps of all texts with each other."""
    shared = np.array(list(count_shared(texts)), dtype=np.int64).reshape(-1, 3)
    return fill_overlaps([len(text.triples) for text in texts], number_wordings(texts), shared)
