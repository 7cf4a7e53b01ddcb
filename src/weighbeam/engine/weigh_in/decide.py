"""Set weights or skip, and why: the steps of a weigh-in, first match wins (spec § 5)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from weighbeam.core.curves import normalise, to_u16
from weighbeam.core.errors import require
from weighbeam.core.numbers import is_number
from weighbeam.engine.weigh_in.limits import WeighInLimits
from weighbeam.engine.weigh_in.mode import MODES, ModeName

SkipReason = Literal["chain_unreadable", "validator_list_unreadable", "too_few_serving", "all_zero", "rate_limited"]


@dataclass(frozen=True, slots=True)
class Payee:
    """An eligible miner: its raw weight and when its answer last counted."""

    hotkey: str
    uid: int
    raw: float
    last_success_at: float | None


@dataclass(frozen=True, slots=True)
class Decision:
    """What this weigh-in does. On a skip there are no weights, only a reason."""

    action: Literal["submit", "skip"]
    reason: SkipReason | None
    stale: tuple[str, ...]
    uniform: bool = False
    weights: dict[str, float] = field(default_factory=dict)
    uids: tuple[int, ...] = ()
    values: tuple[int, ...] = ()


def decide_weights(
    payees: Sequence[Payee],
    now: float,
    mode: ModeName,
    blocks_since_update: int,
    rate_limit_blocks: int,
    limits: WeighInLimits,
    confirmed: bool = True,
    list_ok: bool = True,
) -> Decision:
    """Gate the stale, then submit what is left or say why not."""
    require(mode in MODES, "bad_mode", f"mode {mode!r}", f"use one of {', '.join(MODES)}")
    require(all(is_number(payee.raw, 0) for payee in payees), "bad_ema")
    by_uid = sorted(payees, key=lambda payee: payee.uid)
    stale = tuple(payee.hotkey for payee in by_uid if not _is_fresh(payee, now, mode, limits))
    gated = [0.0 if payee.hotkey in stale else float(payee.raw) for payee in by_uid]
    uniform = mode == "EMERGENCY" and not any(gated)
    if uniform:
        gated = [1.0] * len(by_uid)
    reason = _skip(len(by_uid), any(gated), mode, blocks_since_update, rate_limit_blocks, limits, confirmed, list_ok)
    if reason is not None:
        return Decision("skip", reason, stale)
    shares = normalise(gated)
    row = [(payee.uid, value) for payee, value in zip(by_uid, to_u16(shares), strict=True) if value]
    weights = {payee.hotkey: share for payee, share in zip(by_uid, shares, strict=True)}
    return Decision("submit", None, stale, uniform, weights, tuple(uid for uid, _ in row), tuple(v for _, v in row))


def _is_fresh(payee: Payee, now: float, mode: ModeName, limits: WeighInLimits) -> bool:
    if mode == "EMERGENCY":
        return True
    hours = limits.freshness_hours if mode == "NORMAL" else limits.freshness_hours_degraded
    last = -math.inf if payee.last_success_at is None else payee.last_success_at
    return now - last <= hours * 3600


def _skip(
    eligible: int,
    any_paid: bool,
    mode: ModeName,
    blocks: int,
    rate_limit: int,
    limits: WeighInLimits,
    confirmed: bool,
    list_ok: bool,
) -> SkipReason | None:
    checks: list[tuple[SkipReason, bool]] = [
        ("chain_unreadable", not confirmed),
        ("validator_list_unreadable", not list_ok and mode == "NORMAL"),
        ("too_few_serving", eligible < limits.min_serving_nodes),
        ("all_zero", not any_paid),
        ("rate_limited", blocks < rate_limit),
    ]
    return next((reason for reason, applies in checks if applies), None)
