"""Copies within a round (spec § 9): who quoted what another had quoted before.

By `snippet`, a quote is paid once: to the first answer it is accepted from. Only snippets that are paid can make others
copies, so that leaving a copy out changes nothing for anybody.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from weighbeam.core.canonical import seeded_digest
from weighbeam.mechanism.records import Seed
from weighbeam.mechanisms.evidence.excerpt.checks import KEPT, MAX_CHARACTERS
from weighbeam.mechanisms.evidence.excerpt.forms import find_runs, is_run, parse_forms
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.url.verdict import find_page_key

COPIED = "duplicate_statements"
PARTLY_COPIED = "partly_copied"
MIN_JACCARD = Fraction(4, 5)
ANYWHERE = "anywhere"
MIN_OVERLAP = 5
"""Forms that two quotes must have in common at their ends: fewer stand at two places of a page by chance."""


@dataclass(frozen=True, slots=True)
class CopyQuote:
    """Data by which two snippets are compared. Without a page key or a form it equals nothing."""

    page: str | None
    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CopyResponse:
    """One answer: its processed snippets in order, and for each whether it was accepted."""

    hotkey: str
    seconds: float
    quotes: Sequence[CopyQuote]
    accepted: Sequence[bool]


@dataclass(frozen=True, slots=True)
class CopySource:
    """The snippet that was first: whose, and its number in that answer, from 1."""

    hotkey: str
    snippet: int


@dataclass(frozen=True, slots=True)
class CopyVerdict:
    """One answer after the comparison. `copy_of` is set if the answer as a whole is a copy, `sources` has an entry per
    processed snippet: what it copies, or None."""

    hotkey: str
    copy_of: str | None
    share: float
    sources: tuple[CopySource | None, ...]

    @property
    def reason(self) -> str | None:
        return None if self.copy_of is None else COPIED

    def as_json(self, value: float | None) -> dict[str, Any]:
        """As evidence.duplicates returns it: the value of a whole copy is never above 0."""
        return {
            "hotkey": self.hotkey,
            "copy_of": self.copy_of,
            "share": self.share,
            "value": value if value is None or self.copy_of is None else min(value, 0.0),
            "reason": self.reason,
            "snippets": [None if source is None else asdict(source) for source in self.sources],
        }


def parse_quote(url: object, excerpt: object) -> CopyQuote:
    """A snippet as it is compared; `url` is the final one."""
    return CopyQuote(find_page_key(url), _parse_excerpt_forms(excerpt) if isinstance(excerpt, str) else ())


def _parse_excerpt_forms(excerpt: str) -> tuple[str, ...]:
    """Parse an excerpt's forms; overlong excerpts are not cached, since a miner could fill the memory."""
    return _keep_forms(excerpt) if len(excerpt) <= MAX_CHARACTERS else tuple(parse_forms(excerpt))


@lru_cache(KEPT)
def _keep_forms(excerpt: str) -> tuple[str, ...]:
    return tuple(parse_forms(excerpt))


def find_copies(responses: Sequence[CopyResponse], seed: Seed, params: EvidenceParams) -> list[CopyVerdict]:
    """Every answer against all that came before it; the verdicts in the order given."""
    order = sorted(responses, key=lambda response: (response.seconds, seeded_digest(seed, response.hotkey)))
    if params.copy_scope == "anywhere":
        order = [replace(response, quotes=list(map(_forget_page, response.quotes))) for response in order]
    found = _compare_snippets(order) if params.copies == "snippet" else _compare_answers(order, params.copy_share)
    judged = {verdict.hotkey: verdict for verdict in found}
    return [judged[response.hotkey] for response in responses]


def _forget_page(quote: CopyQuote) -> CopyQuote:
    """As if all quotes stood on one page: the same words are one source, however many pages have them."""
    return quote if quote.page is None else CopyQuote(ANYWHERE, quote.forms)


@dataclass(frozen=True, slots=True)
class _PaidQuote:
    quote: CopyQuote
    source: CopySource


def _compare_snippets(order: Sequence[CopyResponse]) -> list[CopyVerdict]:
    """Each accepted snippet against those paid so far; against the answer's own, on whatever page they stand."""
    paid: defaultdict[str | None, list[_PaidQuote]] = defaultdict(list)
    places = {response.hotkey: place for place, response in enumerate(order)}
    verdicts = []
    for own in order:
        sources: list[CopySource | None] = []
        mine: list[_PaidQuote] = []
        for number, (quote, accepted) in enumerate(zip(own.quotes, own.accepted, strict=True), 1):
            source = _find_source(quote, paid[quote.page], mine) if accepted else None
            if accepted and source is None:
                found = CopySource(own.hotkey, number)
                paid[quote.page].append(_PaidQuote(quote, found))
                mine.append(_PaidQuote(_forget_page(quote), found))
            sources.append(source)
        verdicts.append(_judge_snippets(own, sources, places))
    return verdicts


def _find_source(quote: CopyQuote, paid: Sequence[_PaidQuote], mine: Sequence[_PaidQuote]) -> CopySource | None:
    anywhere = _forget_page(quote)
    known = [one.source for one in paid if repeats(quote, one.quote)]
    known += [one.source for one in mine if repeats(anywhere, one.quote)]
    return known[0] if known else None


def _judge_snippets(own: CopyResponse, sources: Sequence[CopySource | None], places: Mapping[str, int]) -> CopyVerdict:
    """A whole copy if no accepted snippet is its own; named is who has most of it, of equals the earliest."""
    others = Counter(source.hotkey for source in sources if source is not None and source.hotkey != own.hotkey)
    accepted, copied = sum(own.accepted), sum(source is not None for source in sources)
    most = min(others, key=lambda hotkey: (-others[hotkey], places[hotkey]), default=None)
    share = others.total() / accepted if accepted else 0.0
    return CopyVerdict(own.hotkey, most if copied == accepted else None, share, tuple(sources))


def _compare_answers(order: Sequence[CopyResponse], copy_share: float) -> list[CopyVerdict]:
    """The share of accepted snippets that an earlier answer had, accepted there or not, makes an answer a copy."""
    same = cache(is_same)
    verdicts = []
    for place, own in enumerate(order):
        accepted = [quote for quote, taken in zip(own.quotes, own.accepted, strict=True) if taken]
        best, share = None, Fraction(0)
        for earlier in order[:place]:
            common = sum(any(same(quote, other) for other in earlier.quotes) for quote in accepted)
            if common and Fraction(common, len(accepted)) > share:
                best, share = earlier.hotkey, Fraction(common, len(accepted))
        copy_of = best if share >= copy_share else None
        verdicts.append(CopyVerdict(own.hotkey, copy_of, float(share), (None,) * len(own.quotes)))
    return verdicts


def repeats(one: CopyQuote, other: CopyQuote) -> bool:
    """Whether two snippets are the same, or one begins in the other and they share half of the shorter or more.

    >>> first = CopyQuote("a.com/1", tuple("it was so cold that the sea froze".split()))
    >>> repeats(CopyQuote("a.com/1", tuple("so cold that the sea froze over in May".split())), first)
    True
    """
    if is_same(one, other):
        return True
    return one.page is not None and one.page == other.page and (_begins_in(one, other) or _begins_in(other, one))


def _begins_in(one: CopyQuote, other: CopyQuote) -> bool:
    """Whether the end of `other` is the beginning of `one`, and long enough."""
    least = max(MIN_OVERLAP, -(-min(len(one.forms), len(other.forms)) // 2))
    if least > min(len(one.forms), len(other.forms)):
        return False
    starts = find_runs(one.forms[:least], other.forms)
    return any(other.forms[start:] == one.forms[: len(other.forms) - start] for start in starts)


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
