"""Judge each distinct pair once: its three numbers are kept as the embedder's vectors are."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weighbeam.senses.ports import Entailment
from weighbeam.senses.remember import DiskVectors, Remembering


class RememberingEntailment:
    """An entailment sense that never judges a pair it still remembers."""

    def __init__(self, inner: Entailment, disk: DiskVectors | None = None) -> None:
        self.inner = inner
        self.id = inner.id
        self.digest = inner.digest
        self.memory = Remembering(PairsAsTexts(inner), disk)

    def judge(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.int32]:
        """(n, 3) millionths; each distinct pair is judged at most once."""
        return self.memory.embed([join_pair(premise, hypothesis) for premise, hypothesis in pairs])


class PairsAsTexts:
    """An entailment sense in the form the memory knows: a text (a joined pair) to a vector (its three numbers)."""

    dimensions = 3

    def __init__(self, inner: Entailment) -> None:
        self.inner = inner
        self.id = inner.id
        self.digest = inner.digest

    def embed(self, texts: Sequence[str]) -> NDArray[np.int32]:
        return self.inner.judge([split_pair(text) for text in texts])


def join_pair(premise: str, hypothesis: str) -> str:
    """One text per pair, and no two pairs the same.

    >>> join_pair("It rains.", "1:2")
    '9:It rains.1:2'
    """
    return f"{len(premise)}:{premise}{hypothesis}"


def split_pair(joined: str) -> tuple[str, str]:
    """
    >>> split_pair("9:It rains.1:2")
    ('It rains.', '1:2')
    """
    length, _, rest = joined.partition(":")
    return rest[: int(length)], rest[int(length) :]
