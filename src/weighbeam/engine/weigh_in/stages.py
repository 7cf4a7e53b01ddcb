"""The pure stages of docs/spec/weigh-in.md § 11, as vector files call them."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from weighbeam.engine.weigh_in.decide import Payee, decide_weights
from weighbeam.engine.weigh_in.eligible import REASONS, Node, ValidatorList, filter_serving
from weighbeam.engine.weigh_in.ema import Evaluation, fold_emissions
from weighbeam.engine.weigh_in.limits import read_limits
from weighbeam.engine.weigh_in.mode import Estimate, choose_mode
from weighbeam.mechanisms.contract import Stage

Input = Mapping[str, Any]


def ema_stage(given: Input) -> dict[str, Any]:
    rows = [Evaluation(row["at"], row["round"], row["emission"]) for row in given["evaluations"]]
    average = fold_emissions(
        rows, given["now"], given.get("alpha", 0.3), given.get("lookback_hours", 24), given.get("start", "zero")
    )
    return asdict(average)


def mode_stage(given: Input) -> dict[str, Any]:
    estimate = given.get("estimate")
    known = None if estimate is None else Estimate(estimate["blocks"], estimate["seconds_since"])
    return asdict(choose_mode(given["blocks_since_update"], known, read_limits(given.get("params"))))


def eligible_stage(given: Input) -> dict[str, Any]:
    listed = given["validators"]
    validators = ValidatorList(listed["state"], frozenset(listed.get("hotkeys") or ()), listed.get("age_hours") or 0.0)
    nodes = [Node(**{name: row.get(name) for name in Node.__slots__}) for row in given["nodes"]]
    found = filter_serving(given["own_hotkey"], nodes, validators, read_limits(given.get("params")))
    reasons = list(found.excluded.values())
    counts = {reason: reasons.count(reason) for reason in REASONS}
    return {
        "eligible": list(found.hotkeys),
        "excluded": found.excluded,
        "counts": {**counts, "eligible": len(found.hotkeys)},
        "list_ok": found.list_ok,
    }


def weights_stage(given: Input) -> dict[str, Any]:
    payees = [Payee(row["hotkey"], row["uid"], row["ema"], row["last_success_at"]) for row in given["miners"]]
    decision = decide_weights(
        payees,
        given["now"],
        given["mode"],
        given["blocks_since_update"],
        given.get("rate_limit_blocks", 100),
        read_limits(given.get("params")),
        given.get("confirmed", True),
        given.get("list_ok", True),
    )
    return {**asdict(decision), **{name: list(getattr(decision, name)) for name in ("uids", "values", "stale")}}


STAGES: Mapping[str, Stage] = {
    "weigh_in.ema": ema_stage,
    "weigh_in.mode": mode_stage,
    "weigh_in.eligible": eligible_stage,
    "weigh_in.weights": weights_stage,
}
