"""Where a burn share goes: a hotkey the operator names and the same metagraph proves to be the subnet owner's.

Weights on a uid that nobody else checks are a way to steal, so a target without proof gets nothing
(docs/spec/chain.md § 5).
"""

from dataclasses import dataclass
from typing import Any

from weighbeam.chain.contract import Metagraph
from weighbeam.mechanisms.abilities import Burns
from weighbeam.mechanisms.contract import Mechanism, Params


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
    if not isinstance(mechanism, Burns):
        return None
    share = float(getattr(params, "burn_share", 0.0))
    if wanted is None or graph is None:
        return Burn(share)
    neuron = graph.find(wanted)
    if neuron is None:
        return Burn(share, unproven=True)
    owned = wanted == graph.owner_hotkey or (bool(neuron.coldkey) and neuron.coldkey == graph.owner_coldkey)
    return Burn(share, wanted, neuron.uid) if owned else Burn(share, unproven=True)
