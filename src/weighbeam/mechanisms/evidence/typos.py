"""Which words of a page are one slip of the hand away from a word of the excerpt (spec § 7), for many words at once."""

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanisms.evidence.page_spans import read_points
from weighbeam.mechanisms.evidence.page_tokens import Vocabulary

Truths = NDArray[np.bool_]
Points = NDArray[np.uint32]


def find_typos(vocabulary: Vocabulary, form: str, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of `numbers` whose forms are one substitution, insertion, deletion or swap of neighbours from `form`.

    >>> found = find_typos(Vocabulary(["near", "nears", "neat", "bear", "nae"]), "naer", np.arange(5))
    >>> found.tolist()
    [0]
    """
    close = vocabulary.mistypable[numbers] & (vocabulary.initials[numbers] == ord(form[0]))
    numbers = numbers[close]
    lengths, wanted = vocabulary.lengths[numbers], read_points(form)
    found = [numbers[:0]]
    for length, compare in ((len(form) - 1, _lacks_one), (len(form), _differs_once), (len(form) + 1, _has_one_more)):
        alike = numbers[lengths == length]
        if alike.size:
            found.append(alike[compare(vocabulary.spell(alike, length), wanted)])
    return np.concatenate(found)


def _differs_once(words: Points, form: Points) -> Truths:
    differs = words != form
    times = np.count_nonzero(differs, axis=1)
    two = np.flatnonzero(times == 2)
    if two.size:
        first = differs[two].argmax(axis=1)
        second = np.minimum(first + 1, len(form) - 1)
        swapped = (words[two, first] == form[second]) & (words[two, second] == form[first])
        times[two[swapped]] = 1
    return times == 1


def _has_one_more(words: Points, form: Points) -> Truths:
    return _fits(words[:, :-1] != form, words[:, 1:] != form)


def _lacks_one(words: Points, form: Points) -> Truths:
    return _fits(words != form[:-1], words != form[1:])


def _fits(unlike_before: Truths, unlike_after: Truths) -> Truths:
    """Whether there is a place up to which words agree as they stand, and from which on they agree shifted by one."""
    length = unlike_before.shape[1]
    agree_before = np.where(unlike_before.any(axis=1), unlike_before.argmax(axis=1), length)
    agree_after = np.where(unlike_after.any(axis=1), unlike_after[:, ::-1].argmax(axis=1), length)
    fits: Truths = agree_before + agree_after >= length
    return fits
