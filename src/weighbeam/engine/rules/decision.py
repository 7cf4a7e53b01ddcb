"""Set weights or skip, and why: the steps of a weigh-in, first match wins (spec § 5), and who takes a burnt share.

Weights on a uid that nobody else checks are a way to steal, so a target without proof gets nothing
(docs/spec/chain.md § 5).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, Literal

from weighbeam.chain.contract import Metagraph
from weighbeam.core.errors import require
from weighbeam.core.numbers import is_number
from weighbeam.core.stats import normalise, to_u16
from weighbeam.engine.rules.constants import WeighInLimits
from weighbeam.engine.rules.mode import MODES, ModeName
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params


@dataclass(frozen=True, slots=True)
class Burn:
    """The share to burn and who takes it; without a proven target, nobody does."""

    share: float
    hotkey: str | None = None
    uid: int | None = None
    unproven: bool = False

    def as_json(self) -> dict[str, Any]:
        return {"share": self.share, "hotkey": self.hotkey, "uid": self.uid, "unproven": self.unproven}


def find_burn(mechanism: Mechanism, params: Params, wanted: str | None, graph: Metagraph | None) -> Burn | None:
    """None for a mechanism that burns nothing. A named target is proven even if its share is 0: what no miner earns, or
    what ranks leave over, may still be its.
    """
    if not mechanism.burns:
        return None
    share = mechanism.burn_share(params)
    if wanted is None or graph is None:
        return Burn(share)
    neuron = graph.find(wanted)
    if neuron is None:
        return Burn(share, unproven=True)
    owned = wanted == graph.owner_hotkey or (bool(neuron.coldkey) and neuron.coldkey == graph.owner_coldkey)
    return Burn(share, wanted, neuron.uid) if owned else Burn(share, unproven=True)


SkipReason = Literal[
    "chain_unreadable",
    "validator_list_unreadable",
    "burn_target_unproven",
    "too_few_serving",
    "all_zero",
    "rate_limited",
]
SKIPS = {
    "chain_unreadable": "the chain cannot be read",
    "validator_list_unreadable": "the list of known validators cannot be used",
    "burn_target_unproven": "the burn hotkey does not belong to the subnet's owner",
    "too_few_serving": "too few miners can be paid",
    "all_zero": "no miner has earned anything recently",
    "rate_limited": "the chain does not accept the next weights yet",
    "submission_open": "the last submission is not settled yet",
}
"""The meaning of each reason for setting no weights."""


def describe_skip(reason: SkipReason | None) -> str:
    """
    >>> describe_skip("all_zero")
    'no miner has earned anything recently (all_zero)'
    """
    code = reason or "submission_open"
    return f"{SKIPS[code]} ({code})"


@dataclass(frozen=True, slots=True)
class Payee:
    """An eligible miner: its raw weight and when its answer last counted."""

    hotkey: str
    uid: int
    raw: float
    last_success_at: float | None


@dataclass(frozen=True, slots=True)
class Decision:
    """Decision of a weigh-in. A skip has a reason and no weights."""

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
    burn: Burn | None = None,
) -> Decision:
    """Exclude stale miners, then submit the rest or give the reason to skip. The burn hotkey is not a miner.

    A mechanism that burns pays in integers; they are scaled as they are, since shares of them would round otherwise.
    """
    require(mode in MODES, "bad_mode", f"mode {mode!r}", f"use one of {', '.join(MODES)}")
    require(all(is_number(payee.raw, 0) for payee in payees), "bad_ema")
    by_uid = sorted(payees, key=lambda payee: payee.uid)
    stale = tuple(payee.hotkey for payee in by_uid if not _is_fresh(payee, now, mode, limits))
    gated = [0.0 if payee.hotkey in stale else float(payee.raw) for payee in by_uid]
    target = burn.hotkey if burn else None
    miners = [payee.hotkey != target for payee in by_uid]
    uniform = mode == "EMERGENCY" and any(miners) and not any(compress(gated, miners))
    if uniform:
        gated = _share_alike(miners, burn)
    unproven = burn is not None and burn.unproven and mode == "NORMAL"
    state = _State(sum(miners), any(gated), blocks_since_update < rate_limit_blocks, confirmed, list_ok, unproven)
    reason = _skip(state, mode, limits)
    if reason is not None:
        return Decision("skip", reason, stale)
    shares = normalise(gated)
    units = to_u16(shares if burn is None else gated)
    row = [(payee.uid, value) for payee, value in zip(by_uid, units, strict=True) if value]
    weights = {payee.hotkey: share for payee, share in zip(by_uid, shares, strict=True)}
    return Decision("submit", None, stale, uniform, weights, tuple(uid for uid, _ in row), tuple(v for _, v in row))


def _is_fresh(payee: Payee, now: float, mode: ModeName, limits: WeighInLimits) -> bool:
    if mode == "EMERGENCY":
        return True
    hours = limits.freshness_hours if mode == "NORMAL" else limits.freshness_hours_degraded
    last = -math.inf if payee.last_success_at is None else payee.last_success_at
    return now - last <= hours * 3600


def _share_alike(miners: Sequence[bool], burn: Burn | None) -> list[float]:
    """The burn share as set, the rest in equal parts."""
    share = burn.share if burn is not None and not all(miners) else 0.0
    return [(1 - share) / sum(miners) if miner else share for miner in miners]


@dataclass(frozen=True, slots=True)
class _State:
    eligible: int
    any_paid: bool
    too_early: bool
    confirmed: bool
    list_ok: bool
    unproven: bool


def _skip(state: _State, mode: ModeName, limits: WeighInLimits) -> SkipReason | None:
    checks: list[tuple[SkipReason, bool]] = [
        ("chain_unreadable", not state.confirmed),
        ("validator_list_unreadable", not state.list_ok and mode == "NORMAL"),
        ("burn_target_unproven", state.unproven),
        ("too_few_serving", state.eligible < limits.min_serving_nodes),
        ("all_zero", not state.any_paid),
        ("rate_limited", state.too_early),
    ]
    return next((reason for reason, applies in checks if applies), None)
