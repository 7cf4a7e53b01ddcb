"""From what was observed to one explained score per answer. Pure."""

from collections.abc import Mapping
from typing import Any

from keyword_recall.params import RecallParams
from weighbeam.mechanisms.contract import Observation, Score, Scored


def score_round(params: RecallParams, observation: Observation) -> Scored:
    keywords = len(observation.facts["keywords"])
    scores = tuple(_score(params, row, keywords) for row in observation.facts["rows"])
    return Scored(scores, {"answered": sum(score.status == "valid" for score in scores)})


def _score(params: RecallParams, row: Mapping[str, Any], keywords: int) -> Score:
    if row["status"] == "validator_error":
        return Score(row["hotkey"], "unscored", None, None, ("validator_fault",))
    if row["status"] != "ok" or not row["words"]:
        return Score(row["hotkey"], "failed", 0.0, None, ("no_text",))
    allowance = params.words_per_keyword * keywords
    parts = {
        "recall": (keywords - len(row["missing"])) / keywords,
        "brevity": min(1.0, allowance / row["words"]),
    }
    return Score(row["hotkey"], "valid", recompute_score(parts), parts)


def recompute_score(parts: Mapping[str, Any]) -> float:
    """The value again, from its parts alone.

    >>> recompute_score({"recall": 0.5, "brevity": 0.8})
    0.4
    """
    return float(parts["recall"] * parts["brevity"])
