"""Choose the miners to ask: a seeded draw that favours good miners and gives new ones a chance (spec § 1)."""

import math
from collections.abc import Mapping, Sequence

from weighbeam.core.canonical import seeded_digest
from weighbeam.core.numbers import round_significant
from weighbeam.mechanism.records import Group, Seed
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.stand import Memory

WORST, BEST = -5.0, 10.0
NEWCOMER = 2.0
EVENLY = 0.1


def weigh_chance(memory: Memory, params: EvidenceParams) -> float:
    """From 1 for the worst to 10 for the best, and 2 more while there are few responses.

    >>> weigh_chance(Memory(), EvidenceParams()), weigh_chance(Memory(99.0, 500), EvidenceParams())
    (6.0, 10.0)
    """
    average = min(BEST, max(WORST, memory.average or 0.0))
    weight = 1 + 9 * (average - WORST) / (BEST - WORST)
    return weight + (NEWCOMER if memory.responses < params.immunity_responses else 0.0)


def draw_number(seed: Seed, hotkey: str) -> float:
    """A number in (0, 1] that nobody knows before the seed is drawn."""
    return (1 + int(seeded_digest(seed, hotkey)[:16], 16)) / 2**64


def choose_weighted(
    memories: Mapping[str, Memory], miners: Sequence[str], seed: Seed, wanted: Sequence[str], params: EvidenceParams
) -> Group:
    """`group_size` of the miners: those with the smallest −ln(u)/p.

    >>> choose_weighted({}, ["a", "b", "b"], "s", ["b", "z"], EvidenceParams(group_size=1))
    Group(members=('a',), index=0, count=1, base=0.0, extra=('b',), unknown=('z',))
    """
    candidates = sorted(set(miners))
    once = tuple(dict.fromkeys(wanted))
    unknown = tuple(hotkey for hotkey in once if hotkey not in set(candidates))
    if not candidates:
        return Group((), None, 0, unknown=unknown)
    weights = {hotkey: weigh_chance(memories.get(hotkey, Memory()), params) for hotkey in candidates}
    total = math.fsum(weights.values())

    def draw_key(hotkey: str) -> tuple[float, str]:
        chance = (1 - EVENLY) * weights[hotkey] / total + EVENLY / len(candidates)
        return round_significant(-math.log(draw_number(seed, hotkey)) / chance), seeded_digest(seed, hotkey)

    members = tuple(sorted(candidates, key=draw_key)[: params.group_size])
    extra = tuple(hotkey for hotkey in once if hotkey not in unknown and hotkey not in members)
    return Group(members, extra=extra, unknown=unknown)
