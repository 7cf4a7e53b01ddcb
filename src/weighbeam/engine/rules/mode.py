"""Mode of a weigh-in: normal, degraded or emergency, by blocks since the last update (spec § 3)."""

import math
from dataclasses import dataclass
from typing import Literal

from weighbeam.engine.rules.constants import WeighInLimits

ModeName = Literal["NORMAL", "DEGRADED", "EMERGENCY"]
Level = Literal["warning", "critical"]
MODES: tuple[ModeName, ...] = ("NORMAL", "DEGRADED", "EMERGENCY")


@dataclass(frozen=True, slots=True)
class Estimate:
    """The last reading of blocks since our update, and how long ago it was made."""

    blocks: int
    seconds_since: float


@dataclass(frozen=True, slots=True)
class Mode:
    """`confirmed` is false while the block height is unknown: then nothing is submitted."""

    mode: ModeName
    confirmed: bool
    blocks: int | None
    freshness_hours: float | None
    lookback: bool
    blocks_left: int | None
    alert: str | None
    level: Level | None


def choose_mode(blocks: int | None, estimate: Estimate | None, limits: WeighInLimits) -> Mode:
    """The mode for this weigh-in. Emergency, which may pay everyone, needs a confirmed reading."""
    confirmed = blocks is not None
    if blocks is None and estimate is not None:
        passed = math.floor(max(0.0, estimate.seconds_since) / limits.block_seconds)
        blocks = estimate.blocks + passed
    used = None if blocks is None else max(0, blocks)
    name = _name_mode(used or 0, limits)
    if not confirmed and name == "EMERGENCY":
        name = "DEGRADED"
    hours = {"NORMAL": limits.freshness_hours, "DEGRADED": limits.freshness_hours_degraded}.get(name)
    alert, level = _alert(name, confirmed, used, hours, limits)
    left = None if used is None else max(0, limits.limit_blocks - used)
    return Mode(name, confirmed, used, hours, name != "EMERGENCY", left, alert, level)


def _name_mode(blocks: int, limits: WeighInLimits) -> ModeName:
    if blocks >= limits.emergency_blocks:
        return "EMERGENCY"
    return "DEGRADED" if blocks >= limits.degraded_blocks else "NORMAL"


def _alert(
    name: ModeName, confirmed: bool, blocks: int | None, hours: float | None, limits: WeighInLimits
) -> tuple[str | None, Level | None]:
    if not confirmed:
        text = f"CHAIN UNREADABLE: block height unknown, acting as {name}, nothing is submitted"
        return text, "critical" if name == "DEGRADED" else "warning"
    since = f"{blocks} of {limits.limit_blocks} blocks since the last weight update"
    if name == "DEGRADED":
        return f"DEGRADED MODE: {since}, freshness {hours:g} h", "warning"
    if name == "EMERGENCY":
        return f"EMERGENCY MODE: {since}, no freshness gate, act now", "critical"
    return None, None
