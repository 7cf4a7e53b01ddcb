"""Copies within a round (spec § 9): who answered with what another had answered before."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from weighbeam.core.canonical import seeded_digest
from weighbeam.mechanism.records import Seed
from weighbeam.mechanisms.evidence.excerpt.checks import KEPT, MAX_CHARACTERS
from weighbeam.mechanisms.evidence.excerpt.forms import is_run, parse_forms
from weighbeam.mechanisms.evidence.url.verdict import find_page_key

MIN_JACCARD = Fraction(4, 5)


@dataclass(frozen=True, slots=True)
class CopyQuote:
    """What two snippets are compared by. Without a page key or a form it equals nothing."""

    page: str | None
    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CopyResponse:
    """One answer: its processed snippets, those of them that were accepted, and its value so far."""

    hotkey: str
    seconds: float
    value: float | None
    quotes: Sequence[CopyQuote]
    accepted: Sequence[CopyQuote]


@dataclass(frozen=True, slots=True)
class CopyVerdict:
    """One answer after the comparison."""

    hotkey: str
    copy_of: str | None
    share: float
    value: float | None
    reason: str | None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def parse_quote(url: object, excerpt: object) -> CopyQuote:
    """A snippet as it is compared; `url` is the final one."""
    return CopyQuote(find_page_key(url), _parse_excerpt_forms(excerpt) if isinstance(excerpt, str) else ())


def _parse_excerpt_forms(excerpt: str) -> tuple[str, ...]:
    """What is too long to be accepted is not worth keeping: a miner could fill the memory with it."""
    return _keep_forms(excerpt) if len(excerpt) <= MAX_CHARACTERS else tuple(parse_forms(excerpt))


@lru_cache(KEPT)
def _keep_forms(excerpt: str) -> tuple[str, ...]:
    return tuple(parse_forms(excerpt))


def find_copies(responses: Sequence[CopyResponse], seed: Seed, copy_share: float) -> list[CopyVerdict]:
    """Every answer against all that came before it, in the order given."""
    order = sorted(responses, key=lambda response: (response.seconds, seeded_digest(seed, response.hotkey)))
    same = cache(is_same)
    judged: dict[str, CopyVerdict] = {}
    for place, own in enumerate(order):
        best, share = None, Fraction(0)
        for earlier in order[:place]:
            common = sum(any(same(quote, other) for other in earlier.quotes) for quote in own.accepted)
            if common and Fraction(common, len(own.accepted)) > share:
                best, share = earlier.hotkey, Fraction(common, len(own.accepted))
        judged[own.hotkey] = _judge(own, best if share >= copy_share else None, float(share))
    return [judged[response.hotkey] for response in responses]


def is_same(one: CopyQuote, other: CopyQuote) -> bool:
    """Whether two snippets quote the same words of the same page.

    >>> long, short = CopyQuote("a.com/1", ("it", "is", "so")), CopyQuote("a.com/1", ("is", "so"))
    >>> is_same(long, short), is_same(long, CopyQuote("b.org", long.forms)), is_same(short, CopyQuote("a.com/1", ()))
    (True, False, False)
    """
    if one.page is None or one.page != other.page or not one.forms or not other.forms:
        return False
    if one.forms == other.forms or is_run(one.forms, other.forms) or is_run(other.forms, one.forms):
        return True
    mine, others = set(one.forms), set(other.forms)
    return Fraction(len(mine & others), len(mine | others)) >= MIN_JACCARD


def _judge(own: CopyResponse, copy_of: str | None, share: float) -> CopyVerdict:
    if copy_of is None:
        return CopyVerdict(own.hotkey, None, share, own.value, None)
    value = None if own.value is None else min(own.value, 0.0)
    return CopyVerdict(own.hotkey, copy_of, share, value, "duplicate_statements")
