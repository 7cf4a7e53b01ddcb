"""From judged snippets and a time to the score of one answer (spec § 9)."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_number
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.parse import MAX_STAGE_NUMBER, Row, parse_text, parse_within

STATUSES = ("ok", "unreachable", "invalid", "fault")
EXTRA = {"score": 0.0, "domain_factor": None, "counted": False}
UNSCORED = {"value": None, "reason": "validator_fault", "parts": None}


def score_response(status: object, seconds: object, snippets: Sequence[Row], params: EvidenceParams) -> dict[str, Any]:
    """Value, reason and parts of an answer, as `evidence.response` returns them; value None is unscored.

    >>> row = {"accepted": True, "local": 0.9, "multiplier": 3.0, "domain": "a.com"}
    >>> score_response("ok", 15, [row], EvidenceParams())["parts"]["speed"]
    1.5
    """
    require(status in STATUSES, "bad_status")
    if status == "fault":
        return dict(UNSCORED)
    if status == "unreachable":
        return _punish("unreachable_miner", params.penalty_unreachable_miner)
    if status == "invalid":
        return _punish("invalid_response", params.penalty_invalid_response)
    if not snippets:
        return _punish("no_statements", params.penalty_no_statements)
    if not is_number(seconds):
        raise WeighbeamError("bad_seconds")
    return _score_snippets(float(seconds), snippets, params)


def measure_speed(seconds: float, params: EvidenceParams) -> float:
    """Twice for an answer at once, falling to once at `speed_seconds`.

    >>> [measure_speed(seconds, EvidenceParams()) for seconds in (-1, 0, 15, 30, 90)]
    [2.0, 2.0, 1.5, 1.0, 1.0]
    """
    return min(2.0, max(1.0, 2.0 - seconds / params.speed_seconds))


def recompute_value(parts: Mapping[str, Any]) -> float:
    """The value again, from the parts alone."""
    value: float = parts["sum"] * parts["speed"]
    return value if parts["floor"] is None else max(value, parts["floor"])


def _punish(reason: str, penalty: float) -> dict[str, Any]:
    parts: dict[str, Any] = {"sum": penalty, "speed": 1.0, "floor_applied": False, "floor": None, "snippets": []}
    return {"value": penalty, "reason": reason, "parts": parts}


def _score_snippets(seconds: float, snippets: Sequence[Row], params: EvidenceParams) -> dict[str, Any]:
    processed, extra = snippets[: params.max_snippets], snippets[params.max_snippets :]
    judged = all(isinstance(row, dict) and "accepted" in row for row in processed)
    require(judged, "bad_input", "a snippet is not judged")
    if any(row["accepted"] is None for row in processed):
        return dict(UNSCORED)
    used: Counter[str] = Counter()
    rows = [_score_snippet(row, used) for row in processed]
    total = math.fsum(row["score"] for row in rows)
    speed = measure_speed(seconds, params)
    if total < 0 and params.speed_on_negative == "neutral":
        speed = 1.0
    parts = {"sum": total, "speed": speed, "floor": params.score_floor}
    value = recompute_value(parts)
    shown = [*rows, *(dict(EXTRA) for _ in extra)]
    return {
        "value": value,
        "reason": None,
        "parts": {**parts, "floor_applied": value > total * speed, "snippets": shown},
    }


def _score_snippet(row: Row, used: Counter[str]) -> dict[str, Any]:
    """The k-th accepted snippet of a domain counts 1/2^(k−1); a rejected one costs its penalty and uses up nothing, nor
    does a copy: it is worth what leaving it out is worth, and `lost` tells what it would have been worth."""
    require(isinstance(row["accepted"], bool), "bad_input", "accepted is neither true, false nor null")
    if not row["accepted"]:
        return {"score": parse_within(row, "penalty", -MAX_STAGE_NUMBER, 0), "domain_factor": None, "counted": True}
    domain = parse_text(row, "domain").casefold()
    factor: float = 0.5 ** used[domain]
    relevant = parse_within({"relevance_factor": 1.0, **row}, "relevance_factor", 0, 1)
    worth = parse_within(row, "local", 0, 1) * relevant * parse_within(row, "multiplier", 0, MAX_STAGE_NUMBER)
    if row.get("copy_of") is not None:
        return {"score": 0.0, "domain_factor": None, "counted": True, "copy_of": row["copy_of"], "lost": worth * factor}
    used[domain] += 1
    return {"score": worth * factor, "domain_factor": factor, "counted": True}
