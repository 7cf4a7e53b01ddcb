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
    lengths, wanted = vocabulary.lengths[numbers], read_points(form)[:, None]
    found = [numbers[:0]]
    for length, compare in ((len(form) - 1, _lacks_one), (len(form), _differs_once), (len(form) + 1, _has_one_more)):
        alike = numbers[lengths == length]
        if alike.size:
            found.append(alike[compare(vocabulary.spell(alike, length), wanted)])
    return np.concatenate(found)


def _differs_once(words: Points, form: Points) -> Truths:
    differs = words != form
    times = differs.sum(axis=0, dtype=np.uint32)
    two = np.flatnonzero(times == 2)
    if two.size:
        first = differs[:, two].argmax(axis=0)
        second = np.minimum(first + 1, len(form) - 1)
        swapped = (words[first, two] == form[second, 0]) & (words[second, two] == form[first, 0])
        times[two[swapped]] = 1
    once: Truths = times == 1
    return once


def _has_one_more(words: Points, form: Points) -> Truths:
    return _fits(words[:-1] == form, words[1:] == form)


def _lacks_one(words: Points, form: Points) -> Truths:
    return _fits(words == form[:-1], words == form[1:])


def _fits(agree_before: Truths, agree_after: Truths) -> Truths:
    """Whether there is a place up to which words agree as they stand, and from which on they agree shifted by one."""
    before = np.logical_and.accumulate(agree_before, axis=0).sum(axis=0, dtype=np.uint32)
    after = np.logical_and.accumulate(agree_after[::-1], axis=0).sum(axis=0, dtype=np.uint32)
    fits: Truths = before + after >= len(agree_before)
    return fits
