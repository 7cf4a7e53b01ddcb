"""Long texts are compared piece by piece, so that neither splitting a known text nor burying it makes it new.

A piece has at most `piece_words` tokens between white space, and never more than the embedder reads of a text: what it
would leave unread could be anything. A token of more than a hundred characters is read in parts.
"""

from collections.abc import Sequence

LONGEST_TOKEN = 100
MOST_PIECES = 96
"""Ordinary text of 20,000 characters has half as many."""


def split_tokens(text: str) -> list[str]:
    """What stands between white space, nothing of it longer than an embedder knows as a word.

    >>> [len(token) for token in split_tokens("ab " + "x" * 250)]
    [2, 100, 100, 50]
    """
    return [
        token[start : start + LONGEST_TOKEN] for token in text.split() for start in range(0, len(token), LONGEST_TOKEN)
    ]


def cut_tokens(text: str, tokens: Sequence[str], counts: Sequence[int], size: int, room: int) -> list[str]:
    """The pieces of a text of `tokens` with `counts` word pieces each: at most `size` tokens and `room` word pieces in
    one, half of it in the next.

    >>> cut_tokens("a b c d e f g", list("abcdefg"), [1] * 7, 4, 100)
    ['a b c d', 'c d e f', 'e f g']
    >>> cut_tokens("as  it is", ["as", "it", "is"], [1, 1, 1], 4, 100)
    ['as  it is']
    """
    if len(tokens) <= size and sum(counts) <= room and len(tokens) == len(text.split()):
        return [text]
    return [" ".join(tokens[start:stop]) for start, stop in find_windows(counts, size, room)]


def find_windows(counts: Sequence[int], size: int, room: int) -> list[tuple[int, int]]:
    """Where pieces begin and end; a token that alone has more than `room` stands alone.

    >>> find_windows([1] * 7, 4, 9), find_windows([1, 1, 2, 1], 4, 3), find_windows([9, 1, 1], 4, 2)
    ([(0, 4), (2, 6), (4, 7)], [(0, 2), (1, 3), (2, 4)], [(0, 1), (1, 3)])
    """
    windows: list[tuple[int, int]] = []
    start = reached = 0
    while reached < len(counts):
        stop, held = start + 1, counts[start]
        while stop < len(counts) and stop - start < size and held + counts[stop] <= room:
            held += counts[stop]
            stop += 1
        if stop > reached:
            windows.append((start, stop))
            reached = stop
        start += max(1, (stop - start) // 2)
    return windows
