"""The validator's permit: without one no miner is asked, so that no refusal is charged."""

from weighbeam.chain.contract import ChainRules, Metagraph
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.rules.constants import TAO


def find_bar(hotkey: str, graph: Metagraph, rules: ChainRules, weighs: str | None = None) -> WeighbeamError | None:
    """`no_permit` if miners would refuse this hotkey by what the metagraph shows; None if they would not.

    `weighs` is the hotkey that our weights belong to: another one if `hotkey` only signs as its proxy.
    """
    own = graph.find(hotkey)
    if own is None and weighs not in (None, hotkey):
        told = f"questions are signed by {hotkey}, a proxy of {weighs} and no neuron: miners would refuse it"
        remedy = "let miners allow it and set validator.require_permit = false; or run with the hotkey's own key"
        return WeighbeamError("no_permit", told, remedy)
    if own is None:
        told = f"{hotkey} is not registered on subnet {graph.netuid}, so miners would refuse it"
        return WeighbeamError("no_permit", told, "register the hotkey")
    if own.permit:
        return None
    told = f"{hotkey} holds no validator permit, so miners would refuse it"
    needed, epoch = find_needed_stake(graph, rules), _name_epoch(rules)
    if own.stake >= needed:
        return WeighbeamError("no_permit", told, f"wait for {epoch}: its stake of {_format_tao(own.stake)} is enough")
    enough = f"stake {_format_tao(needed)} or more (it has {_format_tao(own.stake)})"
    return WeighbeamError("no_permit", told, f"{enough}, then wait for {epoch}")


def find_needed_stake(graph: Metagraph, rules: ChainRules) -> int:
    """The stake in rao that earns a permit at the next epoch, as things are: the threshold, and more than the lowest
    holder has if no permit is free."""
    held = sorted((neuron.stake for neuron in graph.neurons if neuron.permit), reverse=True)
    is_full = 0 < rules.max_validators <= len(held)
    return max(rules.stake_threshold, held[rules.max_validators - 1] + 1 if is_full else 1)


def _name_epoch(rules: ChainRules) -> str:
    return "the next epoch" if rules.next_epoch_block is None else f"the next epoch (block {rules.next_epoch_block})"


def _format_tao(rao: int) -> str:
    """
    >>> _format_tao(1_500_000_000), _format_tao(1), _format_tao(5000 * TAO + 1)
    ('1.5 TAO', '0.000000001 TAO', '5000.000000001 TAO')
    """
    whole, rest = divmod(rao, TAO)
    return f"{whole}.{rest:09d}".rstrip("0").rstrip(".") + " TAO"
