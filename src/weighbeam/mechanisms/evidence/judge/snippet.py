"""The checks of spec § 3 in order, over the recorded facts of a snippet: accepted, rejected or unscored."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeVar, get_args

from weighbeam.core.errors import require
from weighbeam.core.numbers import is_number
from weighbeam.mechanisms.evidence.excerpt.checks import is_valid_excerpt, repeats_statement
from weighbeam.mechanisms.evidence.judge.nli import NliProbabilities, Stance, are_opposite, parse_inference
from weighbeam.mechanisms.evidence.params import EvidenceParams, find_penalty
from weighbeam.mechanisms.evidence.url.search import is_results_page
from weighbeam.mechanisms.evidence.url.verdict import UrlVerdict
from weighbeam.senses.ports.page import PageOutcome

OUTCOMES = get_args(PageOutcome)
STATUSES = ("supports", "refutes", "neutral", "unrelated", "fake")
COSINE = 1 + 1e-6
T = TypeVar("T")


class MissingFact(Exception):
    """A needed fact is null or invalid: the snippet is unscored."""


class SnippetFacts:
    """Reads what evidence.snippet is given; every method raises MissingFact if it cannot tell."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given

    def read_statement(self) -> str:
        return _demand(self.given.get("statement"), str)

    def read_cosine(self, name: str) -> float:
        value = self.given.get(name)
        if not is_number(value) or abs(value) > COSINE:
            raise MissingFact(name)
        return float(value)

    def read_age(self) -> float | None:
        value = self.given.get("age_days")
        if value is not None and not is_number(value):
            raise MissingFact("age_days")
        return value

    def read_outcome(self) -> str:
        outcome = self._read_page().get("outcome")
        if outcome is None or outcome == "fault":
            raise MissingFact("outcome")
        require(isinstance(outcome, str) and outcome in OUTCOMES, "bad_outcome", f"no outcome: {outcome!r:.200}")
        return str(outcome)

    def read_titles(self) -> list[str]:
        """The title and the headings."""
        page = self._read_page()
        headings = _demand(page.get("headings") or [], list)
        return [_demand(title, str) for title in [page.get("title") or "", *headings]]

    def has_mark(self, name: Literal["search_box", "noindex"]) -> bool:
        return _demand(self._read_page().get(name) or False, bool)

    def is_found(self) -> bool:
        return _demand(self._read_match().get("found"), bool)

    def is_user_content(self) -> bool:
        return _demand(self._read_match().get("user_content") or False, bool)

    def is_forged(self) -> bool:
        """Positive evidence of forgery (spec § 8)."""
        if not self.is_found():
            altered = self._read_match().get("altered")
            _demand_one(altered, (None, "meaning", "number"))
            return _demand(self._read_match().get("hidden") or False, bool) or altered == "meaning"
        second = self.given.get("second_read")
        _demand_one(second, (None, "found", "absent"))
        return second == "absent" or _demand(self.given.get("made_for_task") or False, bool)

    def read_assessment(self) -> tuple[str | None, bool] | None:
        """Status (None if unknown) and whether it is a search; None if nobody assessed it. Never our fault."""
        given = self.given.get("assessment")
        if given is None:
            return None
        status = str(given.get("status")).casefold() if isinstance(given, dict) else None
        return (status, given.get("is_search") is True) if status in STATUSES else (None, False)

    def read_inference(self) -> NliProbabilities:
        return _demand(parse_inference(self.given.get("nli")), NliProbabilities)

    def read_context(self) -> NliProbabilities | None:
        given = self.given.get("nli_context")
        return None if given is None else _demand(parse_inference(given), NliProbabilities)

    def _read_page(self) -> dict[str, Any]:
        return _demand(self.given.get("page"), dict)

    def _read_match(self) -> dict[str, Any]:
        return _demand(self.given.get("match"), dict)


def _demand(value: object, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise MissingFact(kind.__name__)
    return value


def _demand_one(value: object, allowed: tuple[object, ...]) -> None:
    if not any(value is one or (isinstance(value, str) and value == one) for one in allowed):
        raise MissingFact(repr(allowed))


BY_OUTCOME = {"refused": "forbidden_target", "gone": "page_gone"}
BY_STATUS = {"unrelated": "unrelated_page", "fake": "fake_snippet"}


@dataclass(frozen=True, slots=True)
class SnippetVerdict:
    """Result of the stage evidence.snippet; `accepted` is None exactly if the validator failed."""

    accepted: bool | None
    reason: str | None
    domain: str | None
    page: str | None
    score: float | None = None
    penalty: float | None = None
    local: float | None = None
    relevance_factor: float | None = None
    multiplier: float | None = None
    stance: Stance | None = None
    flags: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "flags": list(self.flags)}


def judge_snippet(url: UrlVerdict, excerpt: object, given: Mapping[str, Any], params: EvidenceParams) -> SnippetVerdict:
    """Judge a snippet by the verdict on its URL and the facts that evidence.snippet names."""
    facts = SnippetFacts(given)
    try:
        reason = url.reason or _check_text(excerpt, facts, params) or _check_page(url, facts, params)
        if reason is None:
            return _accept(url, facts, params)
    except MissingFact:
        return SnippetVerdict(None, "validator_fault", url.domain, url.page)
    penalty = find_penalty(params, reason)
    return SnippetVerdict(False, reason, url.domain, url.page, score=penalty, penalty=penalty)


def _check_text(excerpt: object, facts: SnippetFacts, params: EvidenceParams) -> str | None:
    """Checks 6 to 8."""
    if not isinstance(excerpt, str) or not is_valid_excerpt(excerpt, params.min_words):
        return "invalid_excerpt"
    if repeats_statement(excerpt, facts.read_statement()):
        return "too_similar"
    if facts.read_cosine("similarity") > params.similarity_limit:
        return "too_similar"
    age = facts.read_age()
    return "recent_domain" if age is not None and age < params.recent_days else None


def _check_page(url: UrlVerdict, facts: SnippetFacts, params: EvidenceParams) -> str | None:
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


def _check_assessment(facts: SnippetFacts) -> str | None:
    status, is_search = facts.read_assessment() or (None, False)
    return BY_STATUS.get(status or "") or ("search_page" if is_search else None)


def weigh_relevance(relevance: float, params: EvidenceParams) -> float:
    """The share of its local score that a passage is paid for: what settles a statement speaks of the same things.

    >>> weigh_relevance(0.4, EvidenceParams()), weigh_relevance(0.9, EvidenceParams())
    (0.25, 1.0)
    """
    share: float = min(1.0, max(0.0, relevance) / params.relevance_full)
    return math.pow(share, params.relevance_power)


def _accept(url: UrlVerdict, facts: SnippetFacts, params: EvidenceParams) -> SnippetVerdict:
    passage = facts.read_inference()
    context = facts.read_context() if params.context_rule == "min" else None
    judged = context or passage
    local = min(passage.local, judged.local)
    user_content = facts.is_user_content()
    multiplier = params.approved_multiplier if url.approved and not user_content else 1.0
    factor = weigh_relevance(facts.read_cosine("relevance"), params)
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
        score=local * factor * multiplier,
        local=local,
        relevance_factor=factor,
        multiplier=multiplier,
        stance=judged.stance,
        flags=tuple(name for name, raised in flags.items() if raised),
    )
