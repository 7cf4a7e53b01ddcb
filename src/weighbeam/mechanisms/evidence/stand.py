"""The moving average of a miner: fast at first, then with a longer memory (spec § 10)."""

from collections.abc import Sequence
from dataclasses import dataclass

from weighbeam.core.averaging import move_average
from weighbeam.mechanisms.contract import Scored, Seed, Standing
from weighbeam.mechanisms.evidence.params import EvidenceParams


@dataclass(frozen=True, slots=True)
class Memory:
    """What is kept of a miner: its average, None before the first response, and how many responses it rests on."""

    average: float | None = None
    responses: int = 0


def recall(standing: Standing) -> Memory:
    """What a standing holds."""
    return Memory(standing.value, standing.detail.get("responses", 0))


def write_standing(hotkey: str, memory: Memory) -> Standing:
    """
    >>> recall(write_standing("a", Memory(2.5, 3)))
    Memory(average=2.5, responses=3)
    """
    return Standing(hotkey, memory.average, {"responses": memory.responses})


def remember_score(memory: Memory, score: float | None, params: EvidenceParams) -> Memory:
    """The memory after one more response. An unscored one changes nothing; the first sets the average.

    >>> remember_score(Memory(0.0, 99), 10.0, EvidenceParams())
    Memory(average=5.0, responses=100)
    """
    if score is None:
        return memory
    count = memory.responses + 1
    if memory.average is None or count == 1:
        return Memory(score, count)
    alpha = params.immunity_new if count <= params.immunity_responses else 1 - params.history
    return Memory(move_average(memory.average, score, alpha), count)


def remember_scores(memory: Memory, scores: Sequence[float | None], params: EvidenceParams) -> list[Memory]:
    """The memory after each score, in the order of the rounds."""
    memories = []
    for score in scores:
        memory = remember_score(memory, score, params)
        memories.append(memory)
    return memories


def stand_round(standings: Sequence[Standing], scored: Scored, params: EvidenceParams) -> tuple[Standing, ...]:
    """The standings after a round, best first; each carries the round's seed, by which ties fall when weighed."""
    memories = {standing.hotkey: recall(standing) for standing in standings}
    for hotkey, value in scored.summary["values"].items():
        memories[hotkey] = remember_score(memories.get(hotkey, Memory()), value, params)
    seed = scored.summary["seed"]
    order = sorted(memories, key=lambda hotkey: (-(memories[hotkey].average or 0.0), hotkey))
    return tuple(_carry(write_standing(hotkey, memories[hotkey]), seed) for hotkey in order)


def _carry(standing: Standing, seed: Seed) -> Standing:
    return Standing(standing.hotkey, standing.value, {**standing.detail, "seed": seed})
