"""What a round's evidence says about the statement as a whole (spec § 11); shown, never part of a score."""

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
    """An accepted snippet: page key, forms of its words, domain, bonus, and what the model says of it."""

    page: str
    forms: tuple[str, ...]
    domain: str
    multiplier: float
    inference: NliProbabilities


def reach_verdict(quotes: Iterable[VerdictQuote], params: EvidenceParams) -> dict[str, Any]:
    """Verdict, confidence and masses, as `evidence.verdict` returns them; neither order nor repeats matter."""
    kept = _drop_repeats(quotes)
    weighted = _weigh_by_domain(kept)
    sided = [(weight, quote) for weight, quote in weighted if quote.inference.stance != "neutral"]
    support = math.fsum(weight * quote.inference.entailment for weight, quote in sided)
    refute = math.fsum(weight * quote.inference.contradiction for weight, quote in sided)
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


def _drop_repeats(quotes: Iterable[VerdictQuote]) -> list[VerdictQuote]:
    """Clearest first; of the same words on the same page only the first."""
    kept: dict[tuple[str, tuple[str, ...]], VerdictQuote] = {}
    for quote in sorted(quotes, key=_order):
        kept.setdefault((quote.page, quote.forms), quote)
    return list(kept.values())


def _order(quote: VerdictQuote) -> tuple[Any, ...]:
    found = quote.inference
    settled = (found.entailment, found.contradiction, quote.domain.casefold(), quote.multiplier)
    return (-round(found.local, DECIMALS), quote.page, quote.forms, *settled)


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
