"""Which verbs each parameter of evidence is read by: what a backtest may change, and what was observed under it.

The verdict on a URL is written down with its penalty and multiplier; scoring takes both from its own parameters.
"""

from collections.abc import Mapping

from weighbeam.mechanisms.abilities import ReadBy

READ_BY: Mapping[str, ReadBy] = {
    "max_snippets": ReadBy(("ask", "observe", "score")),
    "min_words": ReadBy(("observe", "score"), "raised"),
    "approved_multiplier": ReadBy(("observe", "score"), "any"),
    "speed_seconds": ReadBy(("score",)),
    "immunity_responses": ReadBy(("choose", "stand")),
    "immunity_new": ReadBy(("stand",)),
    "history": ReadBy(("stand",)),
    "burn_share": ReadBy(("weigh",)),
    "recent_days": ReadBy(("score",)),
    "similarity_limit": ReadBy(("observe", "score")),
    "relevance_floor": ReadBy(("observe", "score"), "raised"),
    "score_floor": ReadBy(("score",)),
    "speed_on_negative": ReadBy(("score",)),
    "context_rule": ReadBy(("score",)),
    "assessor_rejects": ReadBy(("score",)),
    "copy_share": ReadBy(("score",)),
    "base_share": ReadBy(("weigh",)),
    "residual": ReadBy(("weigh",)),
    "min_responses": ReadBy(("weigh",)),
    "min_score": ReadBy(("weigh",)),
    "verdict_min_domains": ReadBy(("score",)),
    "verdict_min_mass": ReadBy(("score",)),
    "verdict_margin": ReadBy(("score",)),
    "group_size": ReadBy(("choose",)),
    "timeout_seconds": ReadBy(("ask",)),
    "penalty_unreachable_miner": ReadBy(("score",)),
    "penalty_invalid_response": ReadBy(("score",)),
    "penalty_no_statements": ReadBy(("score",)),
    "penalty_malformed_url": ReadBy(("observe", "score"), "any"),
    "penalty_non_https": ReadBy(("observe", "score"), "any"),
    "penalty_blacklisted_domain": ReadBy(("observe", "score"), "any"),
    "penalty_forbidden_target": ReadBy(("observe", "score"), "any"),
    "penalty_search_url": ReadBy(("observe", "score"), "any"),
    "penalty_invalid_excerpt": ReadBy(("score",)),
    "penalty_too_similar": ReadBy(("score",)),
    "penalty_recent_domain": ReadBy(("score",)),
    "penalty_page_gone": ReadBy(("score",)),
    "penalty_page_unavailable": ReadBy(("score",)),
    "penalty_search_page": ReadBy(("score",)),
    "penalty_fake_snippet": ReadBy(("score",)),
    "penalty_snippet_not_found": ReadBy(("score",)),
    "penalty_unrelated_page": ReadBy(("score",)),
}
