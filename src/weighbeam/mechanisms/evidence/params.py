"""The constants of docs/spec/evidence.md § 2, by the same names, and every penalty of § 3 as `penalty_<code>`."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from weighbeam.core.stats import parse_decimal
from weighbeam.mechanism.params import Params, Values, about, before, read_by

Count = Annotated[int, Field(ge=1, le=1_000_000)]
Share = Annotated[float, Field(ge=0, le=1)]
NotNegative = Annotated[float, Field(ge=0, le=1_000_000)]
Penalty = Annotated[float, Field(ge=-1_000_000, le=0)]


class EvidenceParams(Params):
    """How evidence is checked, judged, averaged and paid."""

    presets: ClassVar[Mapping[str, Values]] = {
        "seed": {
            "context_rule": "off",
            "relevance_power": 0.0,
            "copies": "answer",
            "copy_scope": "page",
            "ties": "seeded",
            "verdict_rule": "sum",
            "verdict_min_mass": 1.0,
            "verdict_margin": 0.75,
        }
    }

    max_snippets: Annotated[
        Count, about("snippets of an answer that are processed"), read_by("ask", "observe", "score")
    ] = 5
    min_words: Annotated[
        int, about("words an excerpt needs", ge=0, le=1000), read_by("observe", "score", holds="raised")
    ] = 5
    approved_multiplier: Annotated[
        NotNegative, about("bonus for approved domains"), read_by("observe", "score", holds="any")
    ] = 3.0
    speed_seconds: Annotated[float, about("speed = max(1, 2 − seconds/this)", gt=0, le=86_400), read_by("score")] = 30.0
    immunity_responses: Annotated[
        int, about("responses of the fast-learning phase", ge=0, le=1_000_000), read_by("choose", "stand")
    ] = 100
    immunity_new: Annotated[Share, about("weight of a new score in that phase"), read_by("stand")] = 0.5
    history: Annotated[Share, about("weight of the old average afterwards"), read_by("stand")] = 0.7
    burn_share: Annotated[Share, about("share of the weights that is burnt"), read_by("weigh")] = 0.5
    recent_days: Annotated[NotNegative, about("a domain is recent if strictly younger"), read_by("score")] = 30.0
    similarity_limit: Annotated[
        float, about("an excerpt is too similar to the statement above this", ge=0, le=2), read_by("observe", "score")
    ] = 0.95
    relevance_floor: Annotated[
        float, about("a passage is unrelated below this", ge=-1, le=1), read_by("observe", "score", holds="raised")
    ] = 0.20
    relevance_full: Annotated[
        float, about("relevance from which evidence is paid in full", gt=0, le=1), read_by("score"), before(0.8)
    ] = 0.8
    relevance_power: Annotated[
        float,
        about("how steeply pay falls below that relevance; 0: not at all", ge=0, le=8),
        read_by("score"),
        before(0.0),
    ] = 2.0
    score_floor: Annotated[
        float | None, about("the least value of an answer; null for no bound", le=0), read_by("score")
    ] = -10.0
    speed_on_negative: Annotated[
        Literal["apply", "neutral"], about("whether speed multiplies a negative sum too"), read_by("score")
    ] = "apply"
    context_rule: Annotated[
        Literal["min", "off"], about("judge the sentence around the passage too"), read_by("score")
    ] = "min"
    assessor_rejects: Annotated[bool, about("whether a configured model may reject snippets"), read_by("score")] = True
    copies: Annotated[
        Literal["snippet", "answer"],
        about("what a copy costs: the copied snippet, or the whole answer from copy_share on"),
        read_by("score"),
        before("answer"),
    ] = "snippet"
    copy_scope: Annotated[
        Literal["page", "anywhere"],
        about("whether the same words count as a copy only on the same page, or on any page"),
        read_by("score"),
        before("page"),
    ] = "page"
    copy_share: Annotated[
        Share, about("with copies = answer: share of copied snippets that makes an answer a copy"), read_by("score")
    ] = 0.5
    base_share: Annotated[
        Share, about("share of the weights that all active miners split equally"), read_by("weigh")
    ] = 0.0
    residual: Annotated[
        Literal["top", "burn", "proportional"],
        about("receiver of the share that the geometric series leaves"),
        read_by("weigh"),
    ] = "top"
    ties: Annotated[
        Literal["share", "seeded"],
        about("equal averages share the pay of their places, or are ranked by responses and then by the seed"),
        read_by("weigh"),
        before("seeded"),
    ] = "share"
    min_responses: Annotated[int, about("responses that make a miner active", ge=0, le=1_000_000), read_by("weigh")] = 1
    min_score: Annotated[float | None, about("least average of an active miner; null for any"), read_by("weigh")] = None
    verdict_min_domains: Annotated[int, about("domains a verdict needs", ge=0, le=1000), read_by("score")] = 2
    verdict_rule: Annotated[
        Literal["net", "sum"],
        about("a verdict counts net likelihood times relevance, or bare probabilities"),
        read_by("score"),
        before("sum"),
    ] = "net"
    verdict_min_mass: Annotated[NotNegative, about("support and refutation a verdict needs"), read_by("score")] = 0.3
    verdict_margin: Annotated[float, about("share of one side that decides", ge=0.5, le=1), read_by("score")] = 0.7
    group_size: Annotated[Count, about("miners asked per round"), read_by("choose")] = 5
    timeout_seconds: Annotated[float, about("hard limit of an answer in seconds", gt=0, le=86_400), read_by("ask")] = (
        120.0
    )
    penalty_unreachable_miner: Annotated[Penalty, about("no endpoint, refused, timed out"), read_by("score")] = -10.0
    penalty_invalid_response: Annotated[Penalty, about("payload malformed or corrupted"), read_by("score")] = -10.0
    penalty_no_statements: Annotated[Penalty, about("empty list of snippets"), read_by("score")] = -5.0
    penalty_malformed_url: Annotated[
        Penalty, about("URL cannot be parsed"), read_by("observe", "score", holds="any")
    ] = -2.0
    penalty_non_https: Annotated[
        Penalty, about("scheme other than https, at any hop"), read_by("observe", "score", holds="any")
    ] = -2.0
    penalty_blacklisted_domain: Annotated[
        Penalty, about("on the blacklist, at any hop"), read_by("observe", "score", holds="any")
    ] = -5.0
    penalty_forbidden_target: Annotated[
        Penalty, about("IP literal, odd port, no registered domain"), read_by("observe", "score", holds="any")
    ] = -5.0
    penalty_search_url: Annotated[
        Penalty, about("the URL is a search or carries the excerpt"), read_by("observe", "score", holds="any")
    ] = -5.0
    penalty_invalid_excerpt: Annotated[Penalty, about("excerpt too short or malformed"), read_by("score")] = -5.0
    penalty_too_similar: Annotated[Penalty, about("excerpt too similar to the statement"), read_by("score")] = -5.0
    penalty_recent_domain: Annotated[Penalty, about("domain registered a short time ago"), read_by("score")] = -1.0
    penalty_page_gone: Annotated[Penalty, about("page answers 404 or 410"), read_by("score")] = -1.0
    penalty_page_unavailable: Annotated[Penalty, about("page unreadable for any other reason"), read_by("score")] = 0.0
    penalty_search_page: Annotated[Penalty, about("the page is a results page"), read_by("score")] = -5.0
    penalty_fake_snippet: Annotated[Penalty, about("positive evidence of forgery"), read_by("score")] = -5.0
    penalty_snippet_not_found: Annotated[Penalty, about("excerpt not on the page"), read_by("score")] = -1.0
    penalty_unrelated_page: Annotated[Penalty, about("passage unrelated to the statement"), read_by("score")] = 0.0

    @model_validator(mode="after")
    def _check_shares(self) -> "EvidenceParams":
        if parse_decimal(self.burn_share) + parse_decimal(self.base_share) > 1:
            raise ValueError("burn_share and base_share are more than everything")
        return self


def find_penalty(params: EvidenceParams, code: str) -> float:
    """Penalty that replaces the score.

    >>> find_penalty(EvidenceParams(), "search_url")
    -5.0
    """
    return float(getattr(params, f"penalty_{code}"))
