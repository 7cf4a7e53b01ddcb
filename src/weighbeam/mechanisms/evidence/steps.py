"""Where on a page each step of a walk applies (spec § 7), for the whole page at once.

A mask is 0 where its step applies and NEVER elsewhere. NEVER has all bits set: `prices | mask` takes no branches.
A hostile excerpt repeats few forms hundreds of times on a page that repeats them too: the masks of some are kept.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanisms.evidence.page_tokens import Tokens
from weighbeam.mechanisms.evidence.plan import Plan
from weighbeam.mechanisms.evidence.typos import find_typos

NEVER = np.uint8(255)
MOST_EQUAL = 32
MOST_KEPT = 8
FEW_WORDS = 32_768
Prices = NDArray[np.uint8]
Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Slips:
    """Per page token: whether it was compared with a form, and whether it is a typo of it."""

    asked: Truths
    made: Truths


class Steps:
    """The masks of one excerpt on one page. A mask is valid until the next one of its kind is asked for."""

    def __init__(self, page: Tokens, plan: Plan) -> None:
        self._page, self._plan = page, plan
        self.codes = plan.encode(page)
        self._equal: dict[int, Prices] = {}
        self._paired: dict[str, Prices] = {}
        self._slips: dict[str, Slips] = {}
        self._scratch = np.empty(len(page), dtype=np.uint8)

    def equal(self, i: int) -> Prices:
        """The page token is the i-th form."""
        return self._spot(int(self.codes.forms[i]))

    def joined(self, i: int) -> Prices:
        """The page token is the i-th form and the next one, joined."""
        return self._spot(int(self.codes.joined[i]))

    def paired(self, i: int) -> Prices:
        """The page token and the next one, joined, are the i-th form."""
        form = self._plan.forms[i]
        mask = self._paired.get(form)
        if mask is None:
            mask = np.full(len(self._page), NEVER)
            mask[self._plan.pairs[i]] = 0
            if len(self._paired) < MOST_KEPT:
                self._paired[form] = mask
        return mask

    def mistyped(self, i: int, where: Truths) -> Truths:
        """Which page tokens are a typo of the i-th form, as far as `where` asks for them."""
        form = self._plan.forms[i]
        slips = self._slips.get(form)
        if slips is None or (where & ~slips.asked).any():
            slips = self._compare(form, where)
            if form in self._slips or len(self._slips) < MOST_KEPT:
                self._slips[form] = slips
        return slips.made

    @cached_property
    def mistypable(self) -> Truths:
        """The page token is one that may be mistyped: names are exact."""
        mistypable: Truths = self._page.lower & self._page.vocabulary.mistypable[self._numbers]
        return mistypable

    @cached_property
    def _numbers(self) -> NDArray[np.intp]:
        return self._page.numbers.astype(np.intp)

    def _spot(self, code: int) -> Prices:
        mask = self._equal.get(code)
        if mask is None:
            keeps = len(self._equal) < MOST_EQUAL
            mask = np.empty_like(self._scratch) if keeps else self._scratch
            np.not_equal(self.codes.page, np.uint16(code), out=mask.view(np.bool_))
            np.negative(mask, out=mask)
            if keeps:
                self._equal[code] = mask
        return mask

    def _compare(self, form: str, where: Truths) -> Slips:
        vocabulary = self._page.vocabulary
        few = len(vocabulary) <= FEW_WORDS
        near = np.full(len(vocabulary), few)
        if not few:
            near[self._numbers[where]] = True
        made = np.zeros_like(near)
        made[find_typos(vocabulary, form, np.flatnonzero(near))] = True
        return Slips(self._everywhere if few else near.take(self._numbers), made.take(self._numbers))

    @cached_property
    def _everywhere(self) -> Truths:
        return np.ones(len(self._page), dtype=np.bool_)
