"""A contributor over time: what it has earned in all, and in the window that weights are made of."""

from collections.abc import Sequence
from typing import Any

from weighbeam.mechanisms.contract import Scored, Standing
from weighbeam.mechanisms.novelty.params import NoveltyParams

HOUR = 3600


def stand_round(params: NoveltyParams, standings: Sequence[Standing], scored: Scored) -> tuple[Standing, ...]:
    """Standings after a round; what has left the window by the round's own time counts no more."""
    at = scored.summary["at"]
    earned = {score.hotkey: int(score.value) for score in scored.scores if score.value is not None}
    known = {standing.hotkey: standing for standing in standings}
    fresh = {hotkey: Standing(hotkey, None) for hotkey in earned if hotkey not in known}
    return tuple(_move(standing, earned.get(name, 0), at, params) for name, standing in (known | fresh).items())


def has_expired(standings: Sequence[Standing], now: float, params: NoveltyParams) -> bool:
    """Whether a round without any contribution would change a standing: something has left the window."""
    return any(_is_old(row, now, params) for standing in standings for row in standing.detail.get("window", ()))


def _move(standing: Standing, units: int, at: float | None, params: NoveltyParams) -> Standing:
    window: list[list[Any]] = [list(row) for row in standing.detail.get("window", ())]
    if not window and not units and standing.value is not None:
        return standing
    if units:
        window.append([at, units])
    kept = [row for row in window if at is None or not _is_old(row, at, params)]
    balance = standing.detail.get("balance", 0) + units
    return Standing(standing.hotkey, float(sum(row[1] for row in kept)), {"balance": balance, "window": kept})


def _is_old(row: Sequence[Any], now: float, params: NoveltyParams) -> bool:
    """What a jump of the clock dated after now stays: it leaves when its time has come."""
    return row[0] is not None and bool(row[0] <= now - params.window_hours * HOUR)
