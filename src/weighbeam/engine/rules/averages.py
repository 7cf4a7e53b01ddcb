"""Moving averages of emissions, the standing of mechanisms that keep none of their own (spec § 4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from weighbeam.core.errors import require
from weighbeam.core.numbers import is_number
from weighbeam.core.stats import move_average
from weighbeam.mechanism.records import Standing


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One round in which a miner was asked; `emission` None is the validator's fault and no evaluation."""

    at: float
    round: str
    emission: float | None


@dataclass(frozen=True, slots=True)
class Average:
    ema: float
    count: int
    last_at: float | None
    future: int


def fold_emissions(
    evaluations: Sequence[Evaluation],
    now: float,
    alpha: float = 0.3,
    lookback_hours: float | None = 24,
    start: Literal["zero", "first"] = "zero",
) -> Average:
    """The average over the evaluations of the window, oldest first; a round counts once.

    >>> fold_emissions([Evaluation(0, "a", 1.0), Evaluation(1, "b", 0.0)], now=2)
    Average(ema=0.21, count=2, last_at=1, future=0)
    """
    require(is_number(alpha) and 0 < alpha <= 1, "bad_alpha", f"alpha is {alpha!r}", "give a value in (0, 1]")
    require(start in ("zero", "first"), "bad_start", f"start is {start!r}", "give zero or first")
    sound = all(row.emission is None or is_number(row.emission, 0) for row in evaluations)
    require(sound, "bad_emission", "an emission is negative or not a number", "discard the round that gave it")
    scored = {row.round: row for row in evaluations if row.emission is not None}
    future = sum(row.at > now for row in scored.values())
    oldest = float("-inf") if lookback_hours is None else now - lookback_hours * 3600
    window = sorted((row for row in scored.values() if oldest <= row.at <= now), key=lambda row: (row.at, row.round))
    ema = 0.0
    for index, row in enumerate(window):
        emission = row.emission or 0.0
        ema = emission if start == "first" and index == 0 else move_average(ema, emission, alpha)
    return Average(ema, len(window), window[-1].at if window else None, future)


def stand_by_averages(averages: Mapping[str, Average], kept: Sequence[Standing] = ()) -> tuple[Standing, ...]:
    """Averages as standings; `count` says over how many evaluations.

    What `stand` keeps of a miner comes along as detail, and a `factor` in it multiplies the average.

    >>> stand_by_averages({"a": Average(0.5, 3, 1.0, 0)}, [Standing("a", None, {"factor": 0.5})])
    (Standing(hotkey='a', value=0.25, detail={'factor': 0.5, 'count': 3}),)
    """
    details = {standing.hotkey: standing.detail for standing in kept}
    return tuple(
        Standing(hotkey, find_factor(details.get(hotkey)) * one.ema, {**details.get(hotkey, {}), "count": one.count})
        for hotkey, one in sorted(averages.items())
    )


def find_factor(detail: Mapping[str, Any] | None) -> float:
    """By what the average of a miner is multiplied; 1 if nothing is kept of it."""
    factor = (detail or {}).get("factor")
    return float(factor) if is_number(factor, 0) else 1.0
