"""Token alignment without gaps (spec § 7).

From any pair of an excerpt form and a page token the next step is decided by what applies first, so that a walk has no
branches, and its price (the typos up to the excerpt's end) follows from the price of the next pair. Prices are worked
out from the excerpt's last form to its first, for the whole page at once: the time does not depend on what is on it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weighbeam.mechanisms.evidence.page_tokens import Tokens, spell_numbers
from weighbeam.mechanisms.evidence.plan import Plan, make_plan
from weighbeam.mechanisms.evidence.steps import NEVER, Prices, Steps

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
    steps = Steps(page, plan)
    after, spare = np.full((2, len(page) + 1), NEVER)
    here = np.zeros(len(page) + 1, dtype=np.uint8)
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
    return here


def _price_run(steps: Steps, first: int, behind: int, prices: Prices) -> None:
    """What a walk costs from the form `first` on, given the same for the form `behind`, where few walks are left and
    all forms between are exact. No join leads past those, so that the prices in between are not asked for again."""
    codes, later = steps.codes, prices[behind - first :]
    starts = np.flatnonzero(later != NEVER)
    left = later[starts]
    for i in reversed(range(first, behind)):
        equal = codes.page[i - first :].take(starts) == codes.forms[i]
        if not equal.all():
            starts, left = starts[equal], left[equal]
    prices.fill(NEVER)
    prices[starts] = left


def _price(plan: Plan, steps: Steps, i: int, next_one: Prices, next_but_one: Prices, prices: Prices) -> None:
    """What a walk costs from the i-th form on, given the same for the next form and the next but one.

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


def _forgive(plan: Plan, steps: Steps, i: int, undecided: Prices, after: Prices, here: Prices) -> None:
    """Price the typos where no other step applies and the budget lasts."""
    asked = (after < plan.budget) & steps.mistypable
    asked &= undecided != 0
    if not asked.any():
        return
    asked &= steps.mistyped(i, asked)
    np.minimum(here, (after + np.uint8(1)) | np.negative((~asked).view(np.uint8)), out=here)


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
