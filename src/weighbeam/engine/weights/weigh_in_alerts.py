"""Alerts that a weigh-in raises (docs/spec/weigh-in.md § 10), and those it ends. Pure."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from weighbeam.engine.alerts.alerts import Level
from weighbeam.engine.rules.decision import describe_skip
from weighbeam.engine.rules.intents import WeightsIntent
from weighbeam.engine.rules.mode import Mode
from weighbeam.engine.weights.weigh_in import WeighInResult

QUIET = ("rate_limited", "superseded", "epoch_over", "abandoned")
CODES = {"DEGRADED": "degraded_mode", "EMERGENCY": "emergency_mode"}


@dataclass(frozen=True, slots=True)
class WeighInAlert:
    """An alert to be raised; `left` if it says that a state was left."""

    code: str
    level: Level
    text: str
    left: bool = False


def name_state(mode: Mode) -> str:
    """The state whose start and end raise alerts: a mode, or an unreadable chain."""
    return mode.mode if mode.confirmed else "UNREADABLE"


def list_raised(done: WeighInResult, before: str | None, stalled: bool) -> list[WeighInAlert]:
    """The alerts of one weigh-in; `before` is the state of the one before it."""
    told = [*_report_mode(done, before), *_report_list(done), *_report_burn(done)]
    if done.decision.uniform and done.submission is not None:
        told.append(
            WeighInAlert("uniform_weights", "critical", "no miner earned anything: every eligible miner is paid alike")
        )
    if done.late and done.mode.mode == "NORMAL":
        told.append(WeighInAlert("weights_late", "warning", f"no new weights for {done.mode.blocks} blocks"))
    if stalled:
        text = f"at least three weigh-ins in a row set no weights: {describe_skip(done.decision.reason)}"
        told.append(WeighInAlert("weigh_in_stalled", "warning", text))
    if done.future:
        told.append(WeighInAlert("clock_skew", "warning", f"{done.future} evaluations are dated in the future"))
    once = {row.id: row for row in (done.settled, done.submission) if row is not None}
    told.extend(one for row in once.values() if (one := _report_row(row)) is not None)
    return told


def list_ended(done: WeighInResult, raised: Collection[str]) -> dict[str, str]:
    """Alerts that are over: by code, the reason, unless the alert was raised again."""
    over = dict([*_end_modes(done), *_end_rows(done)])
    if done.list_ok:
        over["validator_list_unreadable"] = "the list of known validators can be used again"
    if done.burn is not None and not done.burn.unproven:
        over["burn_target_unproven"] = "the burn hotkey is the subnet owner's"
    if not done.future:
        over["clock_skew"] = "no evaluation is dated in the future"
    return {code: why for code, why in over.items() if code not in raised}


def _end_modes(done: WeighInResult) -> Iterator[tuple[str, str]]:
    """An unreadable chain ends nothing: whatever was, may still be."""
    mode = done.mode.mode
    if not done.mode.confirmed:
        return
    yield "chain_unreadable", f"the chain can be read again, mode {mode}"
    yield "stalled", "the chain makes blocks again"
    if not done.late:
        yield "weights_late", f"the weights on chain are {done.mode.blocks} blocks old"
    if mode != "EMERGENCY":
        yield "emergency_mode", f"left EMERGENCY, now {mode}"
    if mode == "NORMAL":
        yield "degraded_mode", f"left DEGRADED, now {mode}"


def _end_rows(done: WeighInResult) -> Iterator[tuple[str, str]]:
    if done.submission is not None and done.submission.state not in ("failed", "unknown"):
        yield "weigh_in_stalled", f"submission {done.submission.id} is {done.submission.state}"
        if not done.decision.uniform:
            yield "uniform_weights", f"submission {done.submission.id} pays by earnings again"
    rows = [row for row in (done.settled, done.submission) if row is not None]
    newest = max(rows, key=lambda row: row.id, default=None)
    if newest is not None and newest.state == "confirmed":
        for code in ("submission_failed", "reveal_missing", "weights_differ", "runtime_mismatch"):
            yield code, f"submission {newest.id} is confirmed"


def _report_mode(done: WeighInResult, before: str | None) -> Iterator[WeighInAlert]:
    mode, state = done.mode, name_state(done.mode)
    if before not in (None, "NORMAL", state):
        left = {"UNREADABLE": "chain_unreadable"}.get(str(before)) or CODES[str(before)]
        yield WeighInAlert(left, "info", f"left {before}, now {state}", left=True)
    if mode.alert is not None and mode.level is not None:
        code = CODES[mode.mode] if mode.confirmed else "chain_unreadable"
        yield WeighInAlert(code, mode.level, mode.alert)


def _report_list(done: WeighInResult) -> Iterator[WeighInAlert]:
    if not done.list_ok:
        effect = "skipped" if done.decision.reason == "validator_list_unreadable" else "continued without it"
        yield WeighInAlert(
            "validator_list_unreadable", "warning", f"the list of known validators cannot be used: {effect}"
        )


def _report_burn(done: WeighInResult) -> Iterator[WeighInAlert]:
    if done.burn is not None and done.burn.unproven:
        effect = "skipped" if done.decision.action == "skip" else "miners got the burn share"
        yield WeighInAlert("burn_target_unproven", "critical", f"the burn hotkey is not the subnet owner's: {effect}")


def _report_row(row: WeightsIntent) -> WeighInAlert | None:
    if row.state != "failed" or row.reason in QUIET:
        return None
    text = f"submission {row.id} failed: {row.reason}" + (f" ({row.message})" if row.message else "")
    if row.reason == "reveal_missing":
        return WeighInAlert("reveal_missing", "warning", text)
    if row.reason in ("weights_differ", "overwritten"):
        return WeighInAlert("weights_differ", "critical", f"{text}; planned {list(row.weights)}, on chain {row.found}")
    return WeighInAlert("submission_failed", "warning", text)
