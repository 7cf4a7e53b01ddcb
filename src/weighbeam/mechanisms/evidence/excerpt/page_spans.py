"""Where the tokens of a whole page are: the rules of `tokens`, worked out for all characters at once.

A page may have a million characters and as many tokens: a pattern, which makes an object of each, takes seconds.
Here each character is a bit for its class, and each rule a few operations on arrays.
"""

import codecs

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanisms.evidence.excerpt.tokens import CITATION, classify

Bits = NDArray[np.uint16]
Places = NDArray[np.int64]
Truths = NDArray[np.bool_]

# Looked up at import: the first use of a codec opens its file.
CODE_POINTS = codecs.lookup("utf-32-le")
LETTER, SPACELESS, MARK, DIGIT, NUMBER, SYMBOL, DASH, APOSTROPHE, POINT, OPENING, WHITE = (1 << i for i in range(11))
OTHER = 0
BITS = dict(
    zip(
        "limdnshapowx",
        (LETTER, SPACELESS, MARK, DIGIT, NUMBER, SYMBOL, DASH, APOSTROPHE, POINT, OPENING, WHITE, OTHER),
        strict=True,
    )
)
BEGINS = LETTER | DIGIT | NUMBER
GOES_ON = BEGINS | MARK


def find_spans(clean: str) -> tuple[Places, Places]:
    """(tokens,) first and behind-the-last offset of each token, contractions in one piece.

    >>> starts, ends = find_spans("It's [1] −3.5 %")
    >>> starts.tolist(), ends.tolist()
    ([0, 9, 14], [4, 13, 15])
    """
    if not clean:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    bits = _skip_citations(clean, _classify_all(clean))
    starts = np.zeros(len(bits), dtype=np.bool_)
    ends = np.zeros(len(bits) + 1, dtype=np.bool_)
    for firsts, behind in (_find_runs(bits), _find_spaceless(bits), _find_symbols(bits)):
        starts[firsts] = True
        ends[behind] = True
    return np.flatnonzero(starts), np.flatnonzero(ends)


def to_code_points(text: str) -> NDArray[np.uint32]:
    """(characters,) code points."""
    return np.frombuffer(CODE_POINTS.encode(text, "surrogatepass")[0], dtype="<u4")


def _classify_all(clean: str) -> Bits:
    """(characters,) the class of each; every distinct character is looked up once."""
    distinct = set(clean)
    table = np.zeros(ord(max(distinct)) + 1, dtype=np.uint16)
    for character in distinct:
        table[ord(character)] = BITS[classify(character)]
    return table[to_code_points(clean)]


def _skip_citations(clean: str, bits: Bits) -> Bits:
    if "[" not in clean:
        return bits
    spans = np.array([found.span() for found in CITATION.finditer(clean)], dtype=np.int64).reshape(-1, 2)
    bounds = np.zeros(len(bits) + 1, dtype=np.int8)
    bounds[spans[:, 0]] += 1
    bounds[spans[:, 1]] -= 1
    bits[np.cumsum(bounds[:-1], dtype=np.int8) > 0] = OTHER
    return bits


def _find_runs(bits: Bits) -> tuple[Places, Places]:
    """Runs of letters, marks and numbers. One that begins with marks begins behind them, if anything is there."""
    before, after = _shift(bits, 1), _shift(bits, -1)
    inside = _has(bits, GOES_ON)
    inside |= _has(bits, APOSTROPHE) & _has(before, GOES_ON) & _has(after, LETTER)
    inside |= _has(bits, POINT) & _has(before, DIGIT) & _has(after, DIGIT)
    edges = np.diff(inside.view(np.int8), prepend=0, append=0)
    firsts, behind = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    marked = _has(bits[firsts], MARK)
    if marked.any():
        firsts[marked] = _find_next(_has(bits, BEGINS), firsts[marked])
        firsts, behind = firsts[firsts < behind], behind[firsts < behind]
    return firsts - _has_sign(bits, firsts), behind


def _has_sign(bits: Bits, firsts: Places) -> Truths:
    """Whether a dash before a digit belongs to it: at the start, or after white space or an opening bracket."""
    signed = (firsts > 0) & _has(bits[firsts], DIGIT) & _has(bits[firsts - 1], DASH)
    signed[signed] = (firsts[signed] == 1) | _has(bits[firsts[signed] - 2], WHITE | OPENING)
    return signed


def _find_spaceless(bits: Bits) -> tuple[Places, Places]:
    """Letters of scripts without spaces, each with the marks after it."""
    firsts = np.flatnonzero(_has(bits, SPACELESS))
    behind = firsts + 1
    marked = _has(_shift(bits, -1)[firsts], MARK)
    if marked.any():
        behind[marked] = _find_next(~_has(bits, MARK), behind[marked])
    return firsts, behind


def _find_symbols(bits: Bits) -> tuple[Places, Places]:
    firsts = np.flatnonzero(_has(bits, SYMBOL))
    return firsts, firsts + 1


def _find_next(wanted: Truths, places: Places) -> Places:
    """The first wanted place at or behind each of `places`; the end of the text if there is none."""
    found = np.append(np.flatnonzero(wanted), len(wanted))
    nearest: Places = found[np.searchsorted(found, places)]
    return nearest


def _has(bits: Bits, classes: int) -> Truths:
    held: Truths = (bits & np.uint16(classes)) != 0
    return held


def _shift(bits: Bits, by: int) -> Bits:
    """The class of the neighbour; beyond either end is nothing."""
    shifted = np.zeros_like(bits)
    if by > 0:
        shifted[by:] = bits[:-by]
    else:
        shifted[:by] = bits[-by:]
    return shifted
