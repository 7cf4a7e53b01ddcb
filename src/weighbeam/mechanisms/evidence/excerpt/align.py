"""Align an excerpt with a page token by token, without gaps, forgiving a few typos (spec § 7).

A mask is 0 where its step applies and NEVER elsewhere. NEVER has all bits set: `prices | mask` takes no branches.
A hostile excerpt repeats few forms hundreds of times on a page that repeats them too: the masks of some are kept.

From any pair of an excerpt form and a page token the next step is decided by what applies first, so that a walk has no
branches, and its price (the typos up to the excerpt's end) follows from the price of the next pair. Prices are worked
out from the excerpt's last form to its first, for the whole page at once: the time does not depend on what is on it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanisms.evidence.excerpt.page_spans import to_code_points
from weighbeam.mechanisms.evidence.excerpt.page_tokens import Tokens, Vocabulary, spell_numbers
from weighbeam.mechanisms.evidence.excerpt.plan import MatchPlan, make_plan

TypoMask = NDArray[np.bool_]
Points = NDArray[np.uint32]


def find_typos(vocabulary: Vocabulary, form: str, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of `numbers` whose forms are one substitution, insertion, deletion or swap of neighbours from `form`.

    >>> found = find_typos(Vocabulary(["near", "nears", "neat", "bear", "nae"]), "naer", np.arange(5))
    >>> found.tolist()
    [0]
    """
    close = vocabulary.mistypable[numbers] & (vocabulary.initials[numbers] == ord(form[0]))
    numbers = numbers[close]
    lengths, wanted = vocabulary.lengths[numbers], to_code_points(form)[:, None]
    found = [numbers[:0]]
    for length, compare in ((len(form) - 1, _lacks_one), (len(form), _differs_once), (len(form) + 1, _has_one_more)):
        alike = numbers[lengths == length]
        if alike.size:
            found.append(alike[compare(vocabulary.spell(alike, length), wanted)])
    return np.concatenate(found)


def _differs_once(words: Points, form: Points) -> TypoMask:
    differs = words != form
    times = differs.sum(axis=0, dtype=np.uint32)
    two = np.flatnonzero(times == 2)
    if two.size:
        first = differs[:, two].argmax(axis=0)
        second = np.minimum(first + 1, len(form) - 1)
        swapped = (words[first, two] == form[second, 0]) & (words[second, two] == form[first, 0])
        times[two[swapped]] = 1
    once: TypoMask = times == 1
    return once


def _has_one_more(words: Points, form: Points) -> TypoMask:
    return _fits(words[:-1] == form, words[1:] == form)


def _lacks_one(words: Points, form: Points) -> TypoMask:
    return _fits(words == form[:-1], words == form[1:])


def _fits(agree_before: TypoMask, agree_after: TypoMask) -> TypoMask:
    """Whether there is a place up to which words agree as they stand, and from which on they agree shifted by one."""
    before = np.logical_and.accumulate(agree_before, axis=0).sum(axis=0, dtype=np.uint32)
    after = np.logical_and.accumulate(agree_after[::-1], axis=0).sum(axis=0, dtype=np.uint32)
    fits: TypoMask = before + after >= len(agree_before)
    return fits


NEVER = np.uint8(255)
MAX_EQUAL = 32
MAX_KEPT = 8
FEW_WORDS = 32_768
Prices = NDArray[np.uint8]
StepMask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TypoLookups:
    """Per page token: whether it was compared with a form, and whether it is a typo of it."""

    asked: StepMask
    made: StepMask


class Steps:
    """The masks of one excerpt on one page. A mask is valid until the next one of its kind is asked for."""

    def __init__(self, page: Tokens, plan: MatchPlan) -> None:
        self._page, self._plan = page, plan
        self.codes = plan.encode(page)
        self._equal: dict[int, Prices] = {}
        self._paired: dict[str, Prices] = {}
        self._slips: dict[str, TypoLookups] = {}
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
            if len(self._paired) < MAX_KEPT:
                self._paired[form] = mask
        return mask

    def mistyped(self, i: int, where: StepMask) -> StepMask:
        """Which page tokens are a typo of the i-th form, as far as `where` asks for them."""
        form = self._plan.forms[i]
        slips = self._slips.get(form)
        if slips is None or (where & ~slips.asked).any():
            slips = self._compare(form, where)
            if form in self._slips or len(self._slips) < MAX_KEPT:
                self._slips[form] = slips
        return slips.made

    @cached_property
    def mistypable(self) -> StepMask:
        """The page token is one that may be mistyped: names are exact."""
        mistypable: StepMask = self._page.lower & self._page.vocabulary.mistypable[self._numbers]
        return mistypable

    @cached_property
    def _numbers(self) -> NDArray[np.intp]:
        return self._page.numbers.astype(np.intp)

    def _spot(self, code: int) -> Prices:
        mask = self._equal.get(code)
        if mask is None:
            keeps = len(self._equal) < MAX_EQUAL
            mask = np.empty_like(self._scratch) if keeps else self._scratch
            np.not_equal(self.codes.page, np.uint16(code), out=mask.view(np.bool_))
            np.negative(mask, out=mask)
            if keeps:
                self._equal[code] = mask
        return mask

    def _compare(self, form: str, where: StepMask) -> TypoLookups:
        vocabulary = self._page.vocabulary
        few = len(vocabulary) <= FEW_WORDS
        near = np.full(len(vocabulary), few)
        if not few:
            near[self._numbers[where]] = True
        made = np.zeros_like(near)
        made[find_typos(vocabulary, form, np.flatnonzero(near))] = True
        return TypoLookups(self._everywhere if few else near.take(self._numbers), made.take(self._numbers))

    @cached_property
    def _everywhere(self) -> StepMask:
        return np.ones(len(self._page), dtype=np.bool_)


# How often, and for how small a share of the page, the walks left are followed one by one.
PASSES_PER_LOOK = 8
SPARSE = 20


@dataclass(frozen=True, slots=True)
class Alignment:
    """A match: first and last token on the page, and the typos forgiven."""

    typos: int
    first: int
    last: int


def align(page: Tokens, forms: Sequence[str], budget: int) -> Alignment | None:
    """The alignment with the fewest typos, the earliest of those; none begins or ends inside a quantity."""
    if not forms or not len(page):
        return None
    plan = make_plan(page, forms, budget)
    if plan.hopeless:
        return None
    if plan.rigid:
        first = page.letters.find(spell_numbers(plan.numbers))
        if first < 0:
            return None
        if not page.cuts[first] and not page.cuts[first + len(plan)]:
            return Alignment(0, first, first + len(plan) - 1)
    prices = _price_starts(page, plan)
    first = int(np.argmin(prices))
    if prices[first] > plan.budget:
        return None
    return Alignment(int(prices[first]), first, _find_last(page, plan, first))


def _price_starts(page: Tokens, plan: MatchPlan) -> Prices:
    """(tokens + 1,) what a walk from each page token costs; the last entry stands for the end of the page."""
    steps = Steps(page, plan)
    after, spare = np.full((2, len(page) + 1), NEVER)
    here = np.negative(page.cuts.view(np.uint8))
    i = len(plan)
    while i > 0:
        i -= 1
        _price(plan, steps, i, here, after, spare)
        here, after, spare = spare, here, after
        if i % PASSES_PER_LOOK:
            continue
        alive = np.count_nonzero(here != NEVER)
        if not alive and after.min() == NEVER:
            break
        run = plan.count_exact(i)
        if run >= PASSES_PER_LOOK and alive * SPARSE <= len(page):
            _price_run(steps, i - run, i, here)
            i -= run
    here[page.cuts] = NEVER
    return here


def _price_run(steps: Steps, first: int, behind: int, prices: Prices) -> None:
    """Cost of a walk from the form `first` on, given the cost from the form `behind`, where few walks are left and
    all forms between are exact. No join leads past those, so the prices in between are not needed again."""
    codes, later = steps.codes, prices[behind - first :]
    starts = np.flatnonzero(later != NEVER)
    left = later[starts]
    for i in reversed(range(first, behind)):
        equal = codes.page[i - first :].take(starts) == codes.forms[i]
        if not equal.all():
            starts, left = starts[equal], left[equal]
    prices.fill(NEVER)
    prices[starts] = left


def _price(plan: MatchPlan, steps: Steps, i: int, next_one: Prices, next_but_one: Prices, prices: Prices) -> None:
    """Cost of a walk from the i-th form on, given the cost from the next form and the next but one.

    At most one of the first three steps applies: the page token is as long as the form, longer, or shorter."""
    prices[-1], here = NEVER, prices[:-1]
    forbidden = steps.equal(i)
    np.bitwise_or(next_one[1:], forbidden, out=here)
    undecided = forbidden.copy() if plan.mistypable[i] else None
    if plan.joined[i] >= 0:
        forbidden = steps.joined(i)
        np.minimum(here, next_but_one[1:] | forbidden, out=here)
        if undecided is not None:
            undecided &= forbidden
    if plan.pairs[i].size:
        forbidden = steps.paired(i)
        np.minimum(here[:-1], next_one[2:] | forbidden[:-1], out=here[:-1])
        if undecided is not None:
            undecided &= forbidden
    if undecided is not None:
        _forgive(plan, steps, i, undecided, next_one[1:], here)


def _forgive(plan: MatchPlan, steps: Steps, i: int, undecided: Prices, after: Prices, here: Prices) -> None:
    """Price the typos where no other step applies and the budget lasts."""
    asked = (after < plan.budget) & steps.mistypable
    asked &= undecided != 0
    if not asked.any():
        return
    asked &= steps.mistyped(i, asked)
    np.minimum(here, (after + np.uint8(1)) | np.negative((~asked).view(np.uint8)), out=here)


def _find_last(page: Tokens, plan: MatchPlan, first: int) -> int:
    """The last token of a walk that is known to reach the end."""
    i, at = 0, first
    while i < len(plan):
        number = int(page.numbers[at])
        if number != plan.numbers[i] and number == plan.joined[i]:
            i += 1
        elif number != plan.numbers[i] and at in plan.pairs[i]:
            at += 1
        i, at = i + 1, at + 1
    return at - 1
