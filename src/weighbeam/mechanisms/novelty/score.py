"""What each contributor earned in a round: the units of what was paid, in whole numbers."""

from collections.abc import Mapping
from typing import Any

from weighbeam.mechanism.records import Observation, Score, Scored
from weighbeam.mechanisms.novelty.observe import parse_events
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.reward import Judgement


def score_round(params: NoveltyParams, observation: Observation) -> Scored:
    scores = tuple(_score(params, row) for row in observation.facts["contributors"])
    return Scored(scores, {"at": observation.facts["at"]})


def sum_parts(parts: Mapping[str, Any]) -> float:
    return float(sum(row["units"] for row in parts["contributions"] if row["status"] == "paid"))


def _score(params: NoveltyParams, row: Mapping[str, Any]) -> Score:
    hotkey, status = row["hotkey"], row["status"]
    if status == "validator_error":
        return Score(hotkey, "unscored", None, reasons=("validator_error",))
    if status != "ok":
        return Score(hotkey, "failed", 0.0, reasons=(status,))
    judged = [(event, event.judge(params)) for event in parse_events(row["events"])]
    parts = {
        "contributions": [
            {"id": event.id, "at": event.at, "micro": event.similarity, "status": one.status, "units": one.units}
            for event, one in judged
        ]
    }
    reasons = {*row["refused"], *(_name_reason(one) for _, one in judged if one.status != "paid" or not one.units)}
    value = sum_parts(parts)
    return Score(hotkey, "valid" if value else "failed", value, parts, tuple(sorted(reasons)))


def _name_reason(judged: Judgement) -> str:
    """What stood between a contribution and its pay."""
    return "not_new" if judged.status == "paid" else judged.status
