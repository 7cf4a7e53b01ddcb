"""Everything a weight decision depends on, recorded so that it can be recomputed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from weighbeam.engine.rules.constants import Averaging, WeighInLimits
from weighbeam.engine.rules.decision import Burn, Decision, Payee, decide_weights
from weighbeam.engine.rules.last_seen import LastSeen, gate_success
from weighbeam.engine.rules.mode import ModeName
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.mechanism.records import Standing


@dataclass(frozen=True, slots=True)
class Weighing:
    """The eligible with their raw weights, and the state of chain and clock."""

    payees: tuple[Payee, ...]
    now: float
    mode: ModeName
    blocks: int
    rate_limit: int
    limits: WeighInLimits
    list_ok: bool
    confirmed: bool
    averaging: Averaging
    burn: Burn | None = None

    @classmethod
    def plan(
        cls, uids: Mapping[str, int], now: float, limits: WeighInLimits, averaging: Averaging, burn: Burn | None = None
    ) -> "Weighing":
        """An ordinary weigh-in of these miners, in the order of their uids; raw weights are still to be found.

        >>> [payee.hotkey for payee in Weighing.plan({"b": 1, "a": 0}, 0.0, WeighInLimits(), Averaging()).payees]
        ['a', 'b']
        """
        payees = tuple(Payee(hotkey, uid, 0.0, None) for hotkey, uid in sorted(uids.items(), key=lambda one: one[1]))
        return cls(payees, now, "NORMAL", 0, 0, limits, True, True, averaging, burn)

    def decide(self) -> Decision:
        return decide_weights(
            self.payees,
            self.now,
            self.mode,
            self.blocks,
            self.rate_limit,
            self.limits,
            self.confirmed,
            self.list_ok,
            self.burn,
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "payees": [[payee.hotkey, payee.uid, payee.raw, payee.last_success_at] for payee in self.payees],
            "now": self.now,
            "mode": self.mode,
            "blocks": self.blocks,
            "rate_limit": self.rate_limit,
            "limits": self.limits.model_dump(),
            "list_ok": self.list_ok,
            "confirmed": self.confirmed,
            "averaging": asdict(self.averaging),
            **({} if self.burn is None else {"burn": self.burn.as_json()}),
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> "Weighing":
        return cls(
            tuple(Payee(*row) for row in given["payees"]),
            given["now"],
            given["mode"],
            given["blocks"],
            given["rate_limit"],
            WeighInLimits(**given["limits"]),
            given["list_ok"],
            given["confirmed"],
            Averaging(**given["averaging"]),
            Burn(**given["burn"]) if "burn" in given else None,
        )


def list_payees(
    mechanism: Mechanism,
    params: Params,
    uids: Mapping[str, int],
    standings: Sequence[Standing],
    seen: Mapping[str, LastSeen],
    now: float,
    freshness_hours: float | None,
    burn: Burn | None = None,
) -> tuple[Payee, ...]:
    """Raw weights and last successes of the eligible (hotkey → uid). A stale miner is not weighed at all, so it uses
    up no place. Pure: live, dry and in replay the same. `freshness_hours` None means no limit. The burn hotkey is
    the last payee.
    """
    rule = mechanism.rule
    ungated = rule.gate == "none" or freshness_hours is None
    window = now - (freshness_hours or 0) * 3600
    only_if_asked = rule.gate == "asked"
    success = {
        hotkey: now if ungated else gate_success(seen.get(hotkey), now, window, only_if_asked) for hotkey in uids
    }
    fresh = {hotkey for hotkey, at in success.items() if at is not None}
    target = burn.hotkey if burn else None
    raw = weigh_raw(mechanism, params, standings, fresh - {target}, target)
    paid = {hotkey: uid for hotkey, uid in uids.items() if hotkey != target}
    payees = [Payee(hotkey, uid, float(raw.get(hotkey, 0.0)), success[hotkey]) for hotkey, uid in paid.items()]
    if burn is not None and target is not None and burn.uid is not None:
        payees.append(Payee(target, burn.uid, float(raw.get(target, 0.0)), now))
    return tuple(payees)


def weigh_raw(
    mechanism: Mechanism, params: Params, standings: Sequence[Standing], fresh: Collection[str], target: str | None
) -> Mapping[str, float]:
    """Raw weights of the fresh, and of the target if the mechanism burns. Pure."""
    if mechanism.burns:
        return mechanism.weigh_burning(params, standings, fresh, target).raw
    return mechanism.weigh(params, standings, fresh).raw
