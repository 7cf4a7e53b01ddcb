"""Earnings of each contributor: in a round, in total, and in the window that weights are made from. Whole units."""

from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.mechanism.records import Observation, Score, Scored, Standing
from weighbeam.mechanisms.novelty.events import NoveltyEvent
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
    parts = {"contributions": [_describe(event, one, params) for event, one in judged]}
    reasons = {*row["refused"], *(_name_reason(one) for _, one in judged if one.status != "paid" or not one.units)}
    value = sum_parts(parts)
    return Score(hotkey, "valid" if value else "failed", value, parts, tuple(sorted(reasons)))


def _describe(event: NoveltyEvent, judged: Judgement, params: NoveltyParams) -> dict[str, Any]:
    """Both numbers where there were facts: the cosine, and the similarity that was paid for."""
    said = {"id": event.id, "at": event.at, "micro": event.similarity, "status": judged.status, "units": judged.units}
    return said if event.facts is None else {**said, "similarity": event.value(params).similarity}


def _name_reason(judged: Judgement) -> str:
    """The reason why a contribution was not paid."""
    return "not_new" if judged.status == "paid" else judged.status


HOUR, MINUTE = 3600, 60


def stand_round(params: NoveltyParams, standings: Sequence[Standing], scored: Scored) -> tuple[Standing, ...]:
    """Standings after a round; what was paid longer ago than the window, by the round's own time, counts no more."""
    at = scored.summary["at"]
    earned = {score.hotkey: _list_paid(score, at) for score in scored.scores if score.value is not None}
    known = {standing.hotkey: standing for standing in standings}
    fresh = {hotkey: Standing(hotkey, None) for hotkey in earned if hotkey not in known}
    return tuple(_move(standing, earned.get(name, []), at, params) for name, standing in (known | fresh).items())


def _list_paid(score: Score, at: float | None) -> list[tuple[float | None, int]]:
    """When what was paid, to the minute; what has no time of its own was paid in the round."""
    rows = (score.parts or {}).get("contributions", ())
    return [(_floor(at if row["at"] is None else row["at"]), row["units"]) for row in rows if row["status"] == "paid"]


def _floor(at: float | None) -> float | None:
    return None if at is None else at // MINUTE * MINUTE


def has_expired(standings: Sequence[Standing], now: float, params: NoveltyParams) -> bool:
    """Whether a round without any contribution would change a standing: something has left the window."""
    rows = (row for standing in standings for row in standing.detail.get("window", ()))
    return any(_has_left(row[0], now, params) for row in rows)


def _move(
    standing: Standing, earned: Sequence[tuple[float | None, int]], at: float | None, params: NoveltyParams
) -> Standing:
    window: list[list[Any]] = [list(row) for row in standing.detail.get("window", ())]
    paid = sum(units for _, units in earned)
    if not window and not paid and standing.value is not None:
        return standing
    sums: dict[float | None, int] = {}
    for when, units in [*((row[0], row[1]) for row in window), *earned]:
        sums[when] = sums.get(when, 0) + units
    kept = {when: units for when, units in sums.items() if units and not _has_left(when, at, params)}
    balance = standing.detail.get("balance", 0) + paid
    rows = [[when, units] for when, units in kept.items()]
    return Standing(standing.hotkey, float(sum(kept.values())), {"balance": balance, "window": rows})


def _has_left(when: float | None, now: float | None, params: NoveltyParams) -> bool:
    """Whether an entry has left the window; one dated in the future by a clock jump stays until its time."""
    return when is not None and now is not None and when <= now - params.window_hours * HOUR
