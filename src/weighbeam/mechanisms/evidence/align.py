"""Token alignment without gaps (spec § 7).

From any pair of an excerpt form and a page token the next step is decided by what applies first, so that a walk has no
branches, and its price (the typos up to the excerpt's end) follows from the price of the next pair. Prices are worked
out from the excerpt's last form to its first, for the whole page at once: the time does not depend on what is on it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanisms.evidence.page_tokens import Tokens, spell_numbers
from weighbeam.mechanisms.evidence.plan import Codes, Plan, make_plan
from weighbeam.mechanisms.evidence.typos import find_typos

NEVER = np.uint8(255)
Prices = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Alignment:
    """A match: first and last token on the page, and the typos forgiven."""

    typos: int
    first: int
    last: int


def align(page: Tokens, forms: Sequence[str], budget: int) -> Alignment | None:
    """The alignment with the fewest typos, the earliest of those."""
    if not forms or not len(page):
        return None
    plan = make_plan(page, forms, budget)
    if plan.hopeless:
        return None
    if plan.rigid:
        first = page.letters.find(spell_numbers(plan.numbers))
        return None if first < 0 else Alignment(0, first, first + len(plan) - 1)
    prices = _price_starts(page, plan)
    first = int(np.argmin(prices))
    if prices[first] > plan.budget:
        return None
    return Alignment(int(prices[first]), first, _find_last(page, plan, first))


def _price_starts(page: Tokens, plan: Plan) -> Prices:
    """(tokens + 1,) what a walk from each page token costs; the last entry stands for the end of the page."""
    codes = plan.encode(page)
    after = np.full(len(page) + 1, NEVER)
    here = np.zeros(len(page) + 1, dtype=np.uint8)
    alive = False
    for i in reversed(range(len(plan))):
        here, after = _price(page, plan, codes, i, here, after), here
        was_alive, alive = alive, bool(here.min() < NEVER)
        if not alive and not was_alive:
            break
    return here


def _price(page: Tokens, plan: Plan, codes: Codes, i: int, next_one: Prices, next_but_one: Prices) -> Prices:
    """What a walk costs from the i-th form on, given the same for the next form and the next but one."""
    prices = np.empty_like(next_one)
    prices[-1] = NEVER
    equal = codes.page == codes.forms[i]
    np.bitwise_or(next_one[1:], _forbid(equal), out=prices[:-1])
    if plan.unjoined[i] and not plan.mistypable[i]:
        return prices
    undecided = ~equal
    if plan.joined[i] >= 0:
        here = undecided & (codes.page == codes.joined[i])
        np.minimum(prices[:-1], next_but_one[1:] | _forbid(here), out=prices[:-1])
        undecided &= ~here
    if plan.pairs[i].size:
        here = np.zeros(len(page), dtype=np.bool_)
        here[plan.pairs[i]] = True
        here &= undecided
        np.minimum(prices[:-2], next_one[2:] | _forbid(here[:-1]), out=prices[:-2])
        undecided &= ~here
    if plan.mistypable[i]:
        undecided &= page.lower
        undecided &= next_one[1:] < plan.budget
        places = np.flatnonzero(undecided)
        places = places[_is_typo(page, plan.forms[i], places)]
        prices[places] = next_one[places + 1] + 1
    return prices


def _forbid(where: NDArray[np.bool_]) -> Prices:
    """NEVER where a step does not apply. All its bits are set, so that `prices | _forbid(where)` takes no branches."""
    return np.negative((~where).view(np.uint8))


def _is_typo(page: Tokens, form: str, places: NDArray[np.int64]) -> NDArray[np.bool_]:
    near = np.zeros(len(page.vocabulary), dtype=np.bool_)
    near[page.numbers[places]] = True
    typos = find_typos(page.vocabulary, form, np.flatnonzero(near))
    near[:] = False
    near[typos] = True
    return near[page.numbers[places]]


def _find_last(page: Tokens, plan: Plan, first: int) -> int:
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
