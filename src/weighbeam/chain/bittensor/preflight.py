"""What the SDK does not check before it signs: stake, permit, version key, and that no value would be clipped."""

from collections.abc import Sequence

from weighbeam.chain.bittensor.faults import make_fault
from weighbeam.chain.contract import ChainFault, Metagraph, Rules
from weighbeam.core.fixed import U16_MAX


def refuse_locally(
    graph: Metagraph, rules: Rules, hotkey: str, uids: Sequence[int], values: Sequence[int], version_key: int
) -> ChainFault | None:
    """Why the chain would refuse this row now, if it would; nothing is sent then."""
    own = graph.find(hotkey)
    if own is None:
        return make_fault("not_registered", f"{hotkey} is not registered on subnet {graph.netuid}")
    owner = hotkey == graph.owner_hotkey
    lone_self = list(uids) == [own.uid]
    if own.stake < rules.stake_threshold and not owner:
        return make_fault("low_stake", f"{own.stake} rao, at least {rules.stake_threshold} are needed")
    if rules.version_key > version_key:
        return make_fault("version_key", f"the chain asks for version key {rules.version_key}, ours is {version_key}")
    if not (own.permit or owner or lone_self):
        return make_fault("no_permit", f"{hotkey} holds no validator permit")
    if len(uids) < min(rules.min_allowed_weights, len(graph.neurons)) and not lone_self:
        return make_fault("too_few_weights", f"{len(uids)} entries, at least {rules.min_allowed_weights} are needed")
    if rules.max_weight_limit * sum(values) < U16_MAX * max(values, default=0) and not lone_self:
        return make_fault("bad_weights", f"the largest weight is over the subnet's limit {rules.max_weight_limit}")
    return None
