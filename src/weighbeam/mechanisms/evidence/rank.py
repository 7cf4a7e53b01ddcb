"""Who is active, and in which order (spec § 10). No uid takes part in it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from weighbeam.core.canonical import seeded_digest
from weighbeam.mechanisms.contract import Seed
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.stand import Memory

DECIMALS = 9


@dataclass(frozen=True, slots=True)
class Neuron:
    """One place of the subnet, at the block used."""

    uid: int
    hotkey: str
    permit: bool


def find_active(
    memories: Mapping[str, Memory],
    neurons: Sequence[Neuron],
    left_out: Collection[str],
    params: EvidenceParams,
) -> list[str]:
    """Registered miners without a permit that answered often and well enough and are not among the left out."""
    least = max(1, params.min_responses)
    active = []
    for neuron in neurons:
        memory = memories.get(neuron.hotkey, Memory())
        if neuron.permit or neuron.hotkey in left_out or memory.average is None or memory.responses < least:
            continue
        if params.min_score is None or round(memory.average, DECIMALS) >= params.min_score:
            active.append(neuron.hotkey)
    return active


def rank_active(memories: Mapping[str, Memory], active: Sequence[str], seed: Seed) -> list[str]:
    """Best average first, then more responses, then a seeded order that favours nobody for good."""

    def rank_key(hotkey: str) -> tuple[float, int, str]:
        memory = memories[hotkey]
        return -round(memory.average or 0.0, DECIMALS), -memory.responses, seeded_digest(seed, hotkey)

    return sorted(active, key=rank_key)
