"""In which order training sees its pairs: fixed by the seed and the mix, round by round, without an end."""

import random
from collections.abc import Mapping, Sequence

from pairs import Example, Pair


def count_by_source(mix: Mapping[str, float], total: int) -> dict[str, int]:
    """How many pairs of each source a round of `total` has.

    >>> count_by_source({"a": 3.0, "b": 1.0}, 8)
    {'a': 6, 'b': 2}
    """
    whole = sum(mix.values())
    return {source: round(total * share / whole) for source, share in sorted(mix.items())}


def order_source(indices: Sequence[int], source: str, epoch: int, seed: int) -> list[int]:
    order = list(indices)
    random.Random(f"{seed}:{source}:{epoch}").shuffle(order)
    return order


def take_slice(indices: Sequence[int], source: str, begin: int, count: int, seed: int) -> list[int]:
    """`count` entries from position `begin` of the endless sequence of shuffled epochs of a source."""
    taken: list[int] = []
    while count > 0:
        epoch, offset = divmod(begin, len(indices))
        part = order_source(indices, source, epoch, seed)[offset : offset + count]
        taken += part
        begin += len(part)
        count -= len(part)
    return taken


def draw_round(pairs: Sequence[Pair], mix: Mapping[str, float], number: int, total: int, seed: int) -> list[int]:
    """Indices of the pairs of one round, shuffled; no pair comes again before its source has been used up."""
    by_source: dict[str, list[int]] = {}
    for index, pair in enumerate(pairs):
        by_source.setdefault(pair.source, []).append(index)
    drawn: list[int] = []
    for source, count in count_by_source(mix, total).items():
        drawn += take_slice(by_source[source], source, number * count, count, seed)
    random.Random(f"{seed}:round:{number}").shuffle(drawn)
    return drawn


def make_batches(examples: Sequence[Example], drawn: Sequence[int], tokens: int, seed: str) -> list[list[int]]:
    """Batches of at most `tokens` pieces with padding; pairs of like length share one."""
    ordered = sorted(drawn, key=lambda index: len(examples[index]))
    batches: list[list[int]] = [[]]
    for index in ordered:
        if (len(batches[-1]) + 1) * len(examples[index]) > tokens and batches[-1]:
            batches.append([])
        batches[-1].append(index)
    random.Random(seed).shuffle(batches)
    return batches
