"""Every check a submission would pass or fail now, from the chain's rules and our own neuron."""

from dataclasses import dataclass

from weighbeam.engine.weigh_in.assess import Assessed, Reading, Scale


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    holds: bool
    detail: str


def list_checks(scale: Scale, reading: Reading, assessed: Assessed) -> list[Check]:
    """In the order they are made: the chain can be read, our own steps, then the chain's."""
    graph, rules = reading.graph, reading.rules
    if graph is None or rules is None:
        return [Check("chain readable", False, reading.fault.message if reading.fault else "no answer")]
    own, decision = graph.find(scale.own_hotkey), assessed.decision
    entries, least = len(decision.uids), min(rules.min_allowed_weights, len(graph.neurons))
    open_row = scale.ledger.unsettled()
    checks = [
        Check("chain readable", True, f"block {graph.block}"),
        Check("hotkey registered", own is not None, scale.own_hotkey),
        Check("validator list usable", assessed.eligible.list_ok, reading.validators.state),
        Check("somebody eligible", bool(assessed.eligible.hotkeys), f"{len(assessed.eligible.hotkeys)} miners"),
        Check(
            "somebody earned something",
            any(p.raw for p in assessed.weighing.payees),
            f"{sum(p.raw > 0 for p in assessed.weighing.payees)} miners",
        ),
        Check(
            "no submission open", open_row is None, "none" if open_row is None else f"{open_row.id} {open_row.state}"
        ),
    ]
    if own is None:
        return checks
    waited = assessed.weighing.blocks
    return [
        *checks,
        Check("rate limit", waited >= rules.rate_limit, f"{waited} blocks, at least {rules.rate_limit} needed"),
        Check("stake", own.stake >= rules.stake_threshold, f"{own.stake} rao, at least {rules.stake_threshold} needed"),
        Check("permit", own.permit or own.hotkey == graph.owner_hotkey, "validator permit or owner"),
        Check(
            "version key",
            scale.version_key >= rules.version_key,
            f"{scale.version_key}, the chain's {rules.version_key}",
        ),
        Check("enough entries", entries >= least, f"{entries}, at least {least} needed"),
        Check("consensus", rules.consensus == "yuma", str(rules.consensus)),
    ]
