"""In which order training sees its pairs: fixed by the seed, the mix and the number of pairs."""

import random
from collections.abc import Mapping, Sequence

from pairs import Example, Pair

POOL = 4_096


def draw(pairs: Sequence[Pair], mix: Mapping[str, float], total: int, seed: int) -> list[int]:
    """`total` indices: each source as often as `mix` says (a fraction is drawn), `snli` fills what is left."""
    chance = random.Random(seed)
    by_source: dict[str, list[int]] = {}
    for index, pair in enumerate(pairs):
        by_source.setdefault(pair.source, []).append(index)
    drawn: list[int] = []
    for source, times in sorted(mix.items()):
        drawn += repeat(by_source[source], round(times * len(by_source[source])), chance)
    drawn += repeat(by_source["snli"], total - len(drawn), chance)
    chance.shuffle(drawn)
    return drawn[:total]


def repeat(indices: list[int], count: int, chance: random.Random) -> list[int]:
    whole, rest = divmod(max(count, 0), len(indices))
    return indices * whole + chance.sample(indices, rest)


def make_batches(examples: Sequence[Example], drawn: Sequence[int], tokens: int, seed: int) -> list[list[int]]:
    """Batches of at most `tokens` pieces with padding; pairs of like length share one."""
    chance = random.Random(seed + 1)
    batches: list[list[int]] = []
    for start in range(0, len(drawn), POOL):
        pool = sorted(drawn[start : start + POOL], key=lambda index: len(examples[index]))
        cut: list[list[int]] = [[]]
        for index in pool:
            if (len(cut[-1]) + 1) * len(examples[index]) > tokens and cut[-1]:
                cut.append([])
            cut[-1].append(index)
        chance.shuffle(cut)
        batches += cut
    return batches
