"""Long premises: windows of whole sentences, and what the windows say together."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

MAX_WINDOWS = 24
"""More of a premise is not read: about 2,000 words."""

CountPieces = Callable[[Sequence[str]], list[int]]


def cut_windows(sentences: Sequence[str], room: int, count: CountPieces) -> list[str]:
    """Windows of neighbouring sentences of at most `room` pieces, each beginning with the last sentence of the one
    before where there is room: what two sentences say together is read together.

    >>> cut_windows(["a b", "c d", "e", "f g h"], 4, lambda texts: [len(text.split()) for text in texts])
    ['a b c d', 'c d e', 'e f g h']
    """
    parts = [part for sentence in sentences for part in halve(sentence, room, count)]
    lengths = count(parts)
    windows: list[str] = []
    first = filled = 0
    for number, length in enumerate(lengths):
        if filled + length > room and number > first:
            windows.append(" ".join(parts[first:number]))
            first = number - 1 if lengths[number - 1] + length <= room and number - 1 > first else number
            filled = sum(lengths[first:number])
        filled += length
    return [*windows, " ".join(parts[first:])][:MAX_WINDOWS]


def halve(sentence: str, room: int, count: CountPieces) -> list[str]:
    """The sentence, or its halves, cut between words until each fits; a single word that does not fit stays whole.

    >>> halve("a b c d e", 2, lambda texts: [len(text.split()) for text in texts])
    ['a b', 'c', 'd e']
    """
    words = sentence.split()
    if len(words) < 2 or count([sentence])[0] <= room:
        return [sentence]
    middle = len(words) // 2
    return [part for half in (words[:middle], words[middle:]) for part in halve(" ".join(half), room, count)]


def join_windows(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """One row from those of the windows: for and against, each as the window says that speaks of it most clearly.

    Odds against neutral are compared, because an undecided window says nothing about the others.

    >>> join_windows(np.array([[0.0, 2.0, 1.0], [-1.0, -1.0, 3.0]], dtype=np.float32)).tolist()
    [0.0, 0.0, 4.0]
    """
    against, open_, for_ = logits.T
    return np.array([(against - open_).max(), 0.0, (for_ - open_).max()], dtype=np.float32)
