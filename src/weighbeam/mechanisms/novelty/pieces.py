"""Long texts are compared piece by piece, so that neither splitting a known text nor burying it makes it new."""

from collections.abc import Callable, Sequence


def cut_windows(tokens: Sequence[str], size: int) -> list[Sequence[str]]:
    """Windows of `size` tokens with half overlap; the last one ends with the text.

    >>> cut_windows("a b c d e f g".split(), 4)
    [['a', 'b', 'c', 'd'], ['c', 'd', 'e', 'f'], ['e', 'f', 'g']]
    >>> cut_windows(["a", "b"], 4)
    [['a', 'b']]
    """
    if len(tokens) <= size:
        return [tokens]
    step = max(1, size // 2)
    return [tokens[start : start + size] for start in range(0, len(tokens) - size + step, step)]


def cut_text(text: str, size: int, fits: Callable[[Sequence[str]], Sequence[bool]]) -> list[str]:
    """The pieces of a text. One that the embedder would not read to its end is cut again, down to a single word.

    >>> cut_text("one two three", 8, lambda pieces: [len(piece) < 8 for piece in pieces])
    ['one two', 'two', 'three']
    """
    whole = text.split()
    if len(whole) <= size and fits([text])[0]:
        return [text]
    pieces: list[str] = []
    windows = cut_windows(whole, size) if len(whole) > size else cut_windows(whole, halve(len(whole)))
    joined = [" ".join(window) for window in windows]
    for piece, window, fitting in zip(joined, windows, fits(joined), strict=True):
        if fitting or len(window) == 1:
            pieces.append(piece)
        else:
            pieces += cut_text(piece, halve(len(window)), fits)
    return list(dict.fromkeys(pieces))


def halve(size: int) -> int:
    """
    >>> [halve(size) for size in (1, 2, 3, 160)]
    [1, 1, 2, 80]
    """
    return max(1, (size + 1) // 2)
