"""The constants of docs/spec/evidence.md § 2, by the same names, and every penalty of § 3 as `penalty_<code>`."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from weighbeam.core.apportion import read_decimal
from weighbeam.mechanisms.contract import Params

Count = Annotated[int, Field(ge=1, le=1_000_000)]
Share = Annotated[float, Field(ge=0, le=1)]
NotNegative = Annotated[float, Field(ge=0, le=1_000_000)]
Penalty = Annotated[float, Field(ge=-1_000_000, le=0)]


def about(text: str, **limits: Any) -> Any:
    return Field(description=text, **limits)


class EvidenceParams(Params):
    """How evidence is checked, judged, averaged and paid."""

    max_snippets: Annotated[Count, about("snippets of an answer that are processed")] = 5
    min_words: Annotated[int, about("words an excerpt needs", ge=0, le=1000)] = 5
    approved_multiplier: Annotated[NotNegative, about("bonus for approved domains")] = 3.0
    speed_seconds: Annotated[float, about("speed = max(1, 2 − seconds/this)", gt=0, le=86_400)] = 30.0
    immunity_responses: Annotated[int, about("responses of the fast-learning phase", ge=0, le=1_000_000)] = 100
    immunity_new: Annotated[Share, about("weight of a new score in that phase")] = 0.5
    history: Annotated[Share, about("weight of the old average afterwards")] = 0.7
    burn_share: Annotated[Share, about("share of the weights that is burnt")] = 0.5
    recent_days: Annotated[NotNegative, about("a domain is recent if strictly younger")] = 30.0
    similarity_limit: Annotated[float, about("an excerpt is too similar to the statement above this", ge=0, le=2)] = (
        0.95
    )
    relevance_floor: Annotated[float, about("a passage is unrelated below this", ge=-1, le=1)] = 0.20
    score_floor: Annotated[float | None, about("no answer is worth less than this; null for none", le=0)] = -10.0
    speed_on_negative: Annotated[Literal["apply", "neutral"], about("whether speed multiplies a negative sum too")] = (
        "apply"
    )
    context_rule: Annotated[Literal["min", "off"], about("judge the sentence around the passage too")] = "min"
    assessor_rejects: Annotated[bool, about("whether a configured model may reject snippets")] = True
    copy_share: Annotated[Share, about("share of copied snippets that makes an answer a copy")] = 0.5
    base_share: Annotated[Share, about("share of the weights that all active miners split equally")] = 0.0
    residual: Annotated[Literal["top", "burn", "proportional"], about("who gets what the geometric series leaves")] = (
        "top"
    )
    min_responses: Annotated[int, about("responses that make a miner active", ge=0, le=1_000_000)] = 1
    min_score: Annotated[float | None, about("least average of an active miner; null for any")] = None
    verdict_min_domains: Annotated[int, about("domains a verdict needs", ge=0, le=1000)] = 2
    verdict_min_mass: Annotated[NotNegative, about("support and refutation a verdict needs")] = 1.0
    verdict_margin: Annotated[float, about("share of one side that decides", ge=0.5, le=1)] = 0.75
    group_size: Annotated[Count, about("miners asked per round")] = 5
    timeout_seconds: Annotated[float, about("hard limit of an answer in seconds", gt=0, le=86_400)] = 120.0
    penalty_unreachable_miner: Annotated[Penalty, about("no endpoint, refused, timed out")] = -10.0
    penalty_invalid_response: Annotated[Penalty, about("payload malformed or corrupted")] = -10.0
    penalty_no_statements: Annotated[Penalty, about("empty list of snippets")] = -5.0
    penalty_malformed_url: Annotated[Penalty, about("URL cannot be parsed")] = -2.0
    penalty_non_https: Annotated[Penalty, about("scheme other than https, at any hop")] = -2.0
    penalty_blacklisted_domain: Annotated[Penalty, about("on the blacklist, at any hop")] = -5.0
    penalty_forbidden_target: Annotated[Penalty, about("IP literal, odd port, no registered domain")] = -5.0
    penalty_search_url: Annotated[Penalty, about("the URL is a search or carries the excerpt")] = -5.0
    penalty_invalid_excerpt: Annotated[Penalty, about("excerpt too short or malformed")] = -5.0
    penalty_too_similar: Annotated[Penalty, about("excerpt too similar to the statement")] = -5.0
    penalty_recent_domain: Annotated[Penalty, about("domain registered a short time ago")] = -1.0
    penalty_page_gone: Annotated[Penalty, about("page answers 404 or 410")] = -1.0
    penalty_page_unavailable: Annotated[Penalty, about("page unreadable for any other reason")] = 0.0
    penalty_search_page: Annotated[Penalty, about("the page is a results page")] = -5.0
    penalty_fake_snippet: Annotated[Penalty, about("positive evidence of forgery")] = -5.0
    penalty_snippet_not_found: Annotated[Penalty, about("excerpt not on the page")] = -1.0
    penalty_unrelated_page: Annotated[Penalty, about("passage unrelated to the statement")] = 0.0

    @model_validator(mode="after")
    def _check_shares(self) -> "EvidenceParams":
        if read_decimal(self.burn_share) + read_decimal(self.base_share) > 1:
            raise ValueError("burn_share and base_share are more than everything")
        return self
