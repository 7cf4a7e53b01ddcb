"""Standings: a moving average, fast at first and slower later, and its standard error (spec § 10)."""

from collections.abc import Sequence
from dataclasses import dataclass

from weighbeam.core.stats import move_average, recover_values, spread_average
from weighbeam.mechanism.records import Scored, Seed, Standing
from weighbeam.mechanisms.evidence.params import EvidenceParams


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of a miner: its average, None before the first response, and the number of responses."""

    average: float | None = None
    responses: int = 0


def recall(standing: Standing) -> Memory:
    """Parse a standing."""
    return Memory(standing.value, standing.detail.get("responses", 0))


def format_standing(hotkey: str, memory: Memory) -> Standing:
    """
    >>> recall(format_standing("a", Memory(2.5, 3)))
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
    """The standings after a round, best first; changed ones carry its seed, which breaks ties in weighing."""
    kept = {standing.hotkey: standing for standing in standings}
    turn = 1 + max((standing.detail.get("turn", 0) for standing in standings), default=0)
    for hotkey, value in scored.summary["values"].items():
        before = recall(kept[hotkey]) if hotkey in kept else Memory()
        after = format_standing(hotkey, remember_score(before, value, params))
        kept[hotkey] = Standing(hotkey, after.value, {**after.detail, "seed": scored.summary["seed"], "turn": turn})
    return tuple(sorted(kept.values(), key=lambda standing: (-(standing.value or 0.0), standing.hotkey)))


def find_seed(standings: Sequence[Standing]) -> Seed:
    """The seed of the last round that changed a standing."""
    newest = max(standings, key=lambda standing: standing.detail.get("turn", 0), default=None)
    return newest.detail.get("seed", "") if newest is not None else ""


def spread_responses(params: EvidenceParams, standing: Standing, course: Sequence[float]) -> float | None:
    """`standing` says how many responses there were: the first of them is the average itself, and counts as a value.

    >>> spread_responses(EvidenceParams(), Standing("a", 3.0, {"responses": 3}), [3.0, 3.0, 3.0])
    0.0
    """
    responses = recall(standing).responses
    own = list(course[-responses:]) if responses else []
    numbers = range(responses - len(own) + 1, responses + 1)
    fast, slow = params.immunity_new, 1 - params.history
    alphas = [fast if number <= params.immunity_responses else slow for number in numbers]
    if not own or min(alphas) <= 0:
        return None
    values = recover_values(own, alphas[1:])
    if len(own) == responses:
        return spread_average([own[0], *values], [1.0, *alphas[1:]])
    return spread_average(values, alphas[1:])
