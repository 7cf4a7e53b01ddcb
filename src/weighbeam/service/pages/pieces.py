"""A document as somebody cut it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text; without a number it belongs to no chunk."""

    text: str
    number: int | None = None


def cut_pieces(document: str, spans: Sequence[Sequence[int] | None]) -> list[Piece]:
    """Chunks by their spans and what lies between them; where two chunks overlap, the first has it.

    >>> cut_pieces("one two three", [[0, 3], [4, 13]])
    [Piece(text='one', number=1), Piece(text=' ', number=None), Piece(text='two three', number=2)]
    """
    pieces: list[Piece] = []
    at = 0
    placed = [(span[0], span[1], number) for number, span in enumerate(spans, 1) if span is not None]
    for start, end, number in sorted(placed):
        if start > at:
            pieces.append(Piece(document[at:start]))
        if end > max(at, start):
            pieces.append(Piece(document[max(at, start) : end], number))
        at = max(at, end)
    return [*pieces, Piece(document[at:])] if at < len(document) else pieces
