"""Where a page must not be cut because a quantity goes on (spec § 7): between "35" and "%", "$" and "35"."""

import unicodedata
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanisms.evidence.excerpt.page_spans import to_code_points
from weighbeam.mechanisms.evidence.excerpt.tokens import SYMBOLS

Truths = NDArray[np.bool_]
Roles = NDArray[np.uint8]
Offsets = NDArray[np.int32]

AMOUNT, BEHIND, BESIDE = np.uint8(1), np.uint8(2), np.uint8(4)
GO_BEHIND = frozenset("% ‰ + percent dozen hundred thousand million billion trillion".split())
GO_BESIDE = frozenset("<>≤≥≠±")
BLANKS = " \t"


def find_roles(forms: Sequence[str], counts: Collection[int]) -> Roles:
    """(forms,) the part of each in a quantity: an amount, what follows one, a sign on either side of one. `counts` are
    the forms of kind number; no other plays a part."""
    roles = np.zeros(len(forms), dtype=np.uint8)
    for number in counts:
        form = forms[number]
        beside = form in GO_BESIDE or (len(form) == 1 and unicodedata.category(form) == "Sc")
        amount = not beside and form not in SYMBOLS
        roles[number] = amount * AMOUNT | (form in GO_BEHIND) * BEHIND | beside * BESIDE
    return roles


def find_cuts(text: str, starts: Offsets, ends: Offsets, parts: Roles) -> Truths:
    """(tokens + 1,) whether a quantity goes on at the border before each token; `parts` are the tokens' roles. Only
    blanks may lie in between.

    >>> find_cuts("3 % €", np.array([0, 2, 4]), np.array([1, 3, 5]), np.array([1, 2, 4], dtype=np.uint8)).tolist()
    [False, True, False, False]
    """
    cuts = np.zeros(len(parts) + 1, dtype=np.bool_)
    if not parts.any():
        return cuts
    before, after = parts[:-1], parts[1:]
    goes_on = (before & AMOUNT).view(np.bool_) & ((after & (BEHIND | BESIDE)) != 0)
    goes_on |= (after & AMOUNT).view(np.bool_) & ((before & BESIDE) != 0)
    places = np.flatnonzero(goes_on) + 1
    apart = starts[places] > ends[places - 1]
    cuts[places[~apart]] = True
    if apart.any():
        places, points = places[apart], to_code_points(text)
        blank = np.isin(points, to_code_points(BLANKS))
        filled = np.concatenate(([0], np.cumsum(~blank, dtype=np.int32)))
        cuts[places[filled[starts[places]] == filled[ends[places - 1]]]] = True
    return cuts
