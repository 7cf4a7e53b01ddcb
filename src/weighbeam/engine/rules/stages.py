"""The pure stages of docs/spec/weigh-in.md § 11, as vector files call them."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from weighbeam.engine.rules.averages import Evaluation, fold_emissions
from weighbeam.engine.rules.constants import parse_limits
from weighbeam.engine.rules.decision import Payee, decide_weights
from weighbeam.engine.rules.eligible import REASONS, ServingNode, ValidatorList, filter_serving
from weighbeam.engine.rules.mode import Estimate, choose_mode
from weighbeam.mechanism.records import Stage

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
    return asdict(choose_mode(given["blocks_since_update"], known, parse_limits(given.get("params"))))


def eligible_stage(given: Input) -> dict[str, Any]:
    listed = given["validators"]
    validators = ValidatorList(listed["state"], frozenset(listed.get("hotkeys") or ()), listed.get("age_hours") or 0.0)
    nodes = [ServingNode(**{name: row.get(name) for name in ServingNode.__slots__}) for row in given["nodes"]]
    found = filter_serving(given["own_hotkey"], nodes, validators, parse_limits(given.get("params")))
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
        parse_limits(given.get("params")),
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
