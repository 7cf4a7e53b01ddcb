"""Verdict of a round's evidence on the statement (spec § 11); shown, never part of a score.

By `net`, a passage speaks for the side that it makes likelier, by as much as it does, and one that is merely about the
statement speaks softly. By `sum`, every passage that is not neutral speaks for both sides by their probabilities.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from weighbeam.mechanisms.evidence.judge.nli import NliProbabilities
from weighbeam.mechanisms.evidence.params import EvidenceParams

DECIMALS = 9


@dataclass(frozen=True, slots=True)
class VerdictQuote:
    """An accepted snippet: page key, forms of its words, domain, bonus, what the model says of it, and how much its
    relevance counts."""

    page: str
    forms: tuple[str, ...]
    domain: str
    multiplier: float
    inference: NliProbabilities
    relevance_factor: float = 1.0

    @property
    def is_sided(self) -> bool:
        return self.inference.stance != "neutral"

    def weigh_sides(self, net: bool) -> tuple[float, float]:
        """Weights of a quote for and against the statement."""
        found = self.inference
        if not net:
            return found.entailment, found.contradiction
        more = found.entailment - found.contradiction
        return max(0.0, more) * self.relevance_factor, max(0.0, -more) * self.relevance_factor


def reach_verdict(quotes: Iterable[VerdictQuote], params: EvidenceParams) -> dict[str, Any]:
    """Verdict, confidence and masses, as `evidence.verdict` returns them; neither order nor repeats matter."""
    net = params.verdict_rule == "net"
    kept = _drop_repeats(quotes, net)
    weighted = _weigh_by_domain(kept)
    sided = [(weight, quote) for weight, quote in weighted if quote.is_sided]
    sides = [(weight, *quote.weigh_sides(net)) for weight, quote in sided]
    support = math.fsum(weight * for_ for weight, for_, _ in sides)
    refute = math.fsum(weight * against for weight, _, against in sides)
    neutral = math.fsum(weight * quote.inference.neutral for weight, quote in weighted)
    domains = len({quote.domain.casefold() for _, quote in sided})
    verdict = _decide(support, refute, domains, params)
    sure = abs(support - refute) / (support + refute + neutral) if verdict != "insufficient" else 0.0
    return {
        "verdict": verdict,
        "confidence": sure,
        "support": support,
        "refute": refute,
        "neutral": neutral,
        "domains": domains,
        "used": len(kept),
    }


def _drop_repeats(quotes: Iterable[VerdictQuote], net: bool) -> list[VerdictQuote]:
    """Clearest first; of the same words only the first, by `sum` of those on the same page."""
    kept: dict[tuple[str, tuple[str, ...]], VerdictQuote] = {}
    for quote in sorted(quotes, key=_order_net if net else _order):
        kept.setdefault(("" if net else quote.page, quote.forms), quote)
    return list(kept.values())


def _order(quote: VerdictQuote) -> tuple[Any, ...]:
    found = quote.inference
    settled = (found.entailment, found.contradiction, quote.domain.casefold(), quote.multiplier)
    return (-round(found.local, DECIMALS), quote.page, quote.forms, *settled)


def _order_net(quote: VerdictQuote) -> tuple[Any, ...]:
    """Those that take a side first, so that no neutral one uses up its domain."""
    said = max(quote.weigh_sides(net=True)) * quote.multiplier
    return (not quote.is_sided, -round(said, DECIMALS), *_order(quote), quote.relevance_factor)


def _weigh_by_domain(quotes: Iterable[VerdictQuote]) -> list[tuple[float, VerdictQuote]]:
    """Each with its weight: the k-th of a domain has 1/2^(k−1) of its multiplier."""
    used: Counter[str] = Counter()
    weighted = []
    for quote in quotes:
        domain = quote.domain.casefold()
        weighted.append((quote.multiplier * 0.5 ** used[domain], quote))
        used[domain] += 1
    return weighted


def _decide(support: float, refute: float, domains: int, params: EvidenceParams) -> str:
    """Rounded before it is compared, so that 0.7 + 0.3 is a mass of 1."""
    mass = support + refute
    if not mass or domains < params.verdict_min_domains or round(mass, DECIMALS) < params.verdict_min_mass:
        return "insufficient"
    if round(support / mass, DECIMALS) >= params.verdict_margin:
        return "supports"
    return "refutes" if round(refute / mass, DECIMALS) >= params.verdict_margin else "mixed"
