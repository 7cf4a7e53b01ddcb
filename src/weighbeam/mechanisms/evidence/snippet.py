"""The checks of spec § 3 in order: accepted, rejected by one code, or unscored."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from weighbeam.mechanisms.evidence.excerpt import is_valid_excerpt, repeats_statement
from weighbeam.mechanisms.evidence.facts import Facts, MissingFact
from weighbeam.mechanisms.evidence.nli import Stance, are_opposite
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.penalties import find_penalty
from weighbeam.mechanisms.evidence.results_page import is_results_page
from weighbeam.mechanisms.evidence.url import UrlVerdict

BY_OUTCOME = {"refused": "forbidden_target", "gone": "page_gone"}
BY_STATUS = {"unrelated": "unrelated_page", "fake": "fake_snippet"}


@dataclass(frozen=True, slots=True)
class SnippetVerdict:
    """What evidence.snippet returns; `accepted` is None exactly if the validator failed."""

    accepted: bool | None
    reason: str | None
    domain: str | None
    page: str | None
    score: float | None = None
    penalty: float | None = None
    local: float | None = None
    multiplier: float | None = None
    stance: Stance | None = None
    flags: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "flags": list(self.flags)}


def judge_snippet(url: UrlVerdict, excerpt: object, given: Mapping[str, Any], params: EvidenceParams) -> SnippetVerdict:
    """Judge a snippet by the verdict on its URL and the facts that evidence.snippet names."""
    facts = Facts(given)
    try:
        reason = url.reason or _check_text(excerpt, facts, params) or _check_page(url, facts, params)
        if reason is None:
            return _accept(url, facts, params)
    except MissingFact:
        return SnippetVerdict(None, "validator_fault", url.domain, url.page)
    penalty = find_penalty(params, reason)
    return SnippetVerdict(False, reason, url.domain, url.page, score=penalty, penalty=penalty)


def _check_text(excerpt: object, facts: Facts, params: EvidenceParams) -> str | None:
    """Checks 6 to 8."""
    if not isinstance(excerpt, str) or not is_valid_excerpt(excerpt, params.min_words):
        return "invalid_excerpt"
    if repeats_statement(excerpt, facts.read_statement()):
        return "too_similar"
    if facts.read_cosine("similarity") > params.similarity_limit:
        return "too_similar"
    age = facts.read_age()
    return "recent_domain" if age is not None and age < params.recent_days else None


def _check_page(url: UrlVerdict, facts: Facts, params: EvidenceParams) -> str | None:
    """Checks 9 to 14."""
    outcome = facts.read_outcome()
    if outcome in BY_OUTCOME:
        return BY_OUTCOME[outcome]
    if outcome != "read" or url.kind == "redirector":
        return "page_unavailable"
    if is_results_page(facts.read_titles(), facts.has_mark("search_box"), facts.has_mark("noindex")):
        return "search_page"
    if facts.is_forged():
        return "fake_snippet"
    if not facts.is_found():
        return "snippet_not_found"
    if facts.read_cosine("relevance") < params.relevance_floor:
        return "unrelated_page"
    return _check_assessment(facts) if params.assessor_rejects else None


def _check_assessment(facts: Facts) -> str | None:
    status, is_search = facts.read_assessment() or (None, False)
    return BY_STATUS.get(status or "") or ("search_page" if is_search else None)


def _accept(url: UrlVerdict, facts: Facts, params: EvidenceParams) -> SnippetVerdict:
    passage = facts.read_inference()
    context = facts.read_context() if params.context_rule == "min" else None
    judged = context or passage
    local = min(passage.local, judged.local)
    user_content = facts.is_user_content()
    multiplier = params.approved_multiplier if url.approved and not user_content else 1.0
    flags = {
        "age_unknown": facts.read_age() is None,
        "context_flip": are_opposite(passage.stance, judged.stance),
        "redirected": url.redirected,
        "unassessed": (facts.read_assessment() or ("none", False))[0] is None,
        "user_content": user_content,
    }
    return SnippetVerdict(
        accepted=True,
        reason=None,
        domain=url.domain,
        page=url.page,
        score=local * multiplier,
        local=local,
        multiplier=multiplier,
        stance=judged.stance,
        flags=tuple(name for name, raised in flags.items() if raised),
    )
