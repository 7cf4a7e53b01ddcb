"""Overlapping groups of adjacent ranks, and which of them a round asks (spec § 8)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from weighbeam.core.canonical import seeded_digest
from weighbeam.mechanism.records import Group, Seed


@dataclass(frozen=True, slots=True)
class Groups:
    """Ranges [start, stop) of the ranking and the rank value each begins with."""

    ranking: tuple[str, ...]
    ranges: tuple[tuple[int, int], ...]
    bases: tuple[float, ...]

    def members(self, index: int) -> tuple[str, ...]:
        start, stop = self.ranges[index]
        return self.ranking[start:stop]


def form_groups(ranking: Sequence[str], group_size: int, rank_values: Literal["start", "overlap"] = "start") -> Groups:
    """Groups of `group_size` that overlap by half; a last one reaches the end of the ranking.

    >>> form_groups("abcdefg", 4).ranges
    ((0, 4), (2, 6), (3, 7))
    """
    count = len(ranking)
    size = min(count, group_size)
    if size == 0:
        return Groups((), (), ())
    step = (size + 1) // 2
    starts = list(range(0, count - size + 1, step))
    if starts[-1] + size < count:
        starts.append(count - size)
    ranges = tuple((start, start + size) for start in starts)
    bases = [float(start) for start in starts]
    if rank_values == "overlap":
        bases = _overlap_bases(starts, size)
    return Groups(tuple(ranking), ranges, tuple(bases))


def _overlap_bases(starts: Sequence[int], size: int) -> list[float]:
    """Each base lies halfway between what the group before has there and where the one before that ends."""
    bases = [0.0]
    for k in range(1, len(starts)):
        here = bases[k - 1] + starts[k] - starts[k - 1]
        last = bases[k - 2] + size - 1 if k > 1 else 0.0
        bases.append((here + last) / 2)
    return bases


def draw_group(groups: Groups, seed: Seed, wanted: Sequence[str] = ()) -> int | None:
    """The seeded choice among the groups that hold most of `wanted` (all groups if none does)."""
    if not groups.ranges:
        return None
    wishes = set(wanted)
    held = [len(wishes.intersection(groups.members(i))) for i in range(len(groups.ranges))]
    candidates = [i for i, count in enumerate(held) if count == max(held)]
    draw = int(seeded_digest(seed, "group")[:16], 16)
    return candidates[draw % len(candidates)]


def split_wanted(groups: Groups, chosen: int | None, wanted: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Wanted hotkeys outside the chosen group, and those nobody knows; each once, in the order wanted."""
    known = set(groups.ranking)
    inside = set() if chosen is None else set(groups.members(chosen))
    once = tuple(dict.fromkeys(wanted))
    unknown = tuple(hotkey for hotkey in once if hotkey not in known)
    if chosen is None:
        return (), unknown
    return tuple(hotkey for hotkey in once if hotkey in known and hotkey not in inside), unknown


def choose_group(
    ranking: Sequence[str],
    group_size: int,
    rank_values: Literal["start", "overlap"],
    seed: Seed,
    wanted: Sequence[str] = (),
) -> Group:
    """The group a round asks."""
    groups = form_groups(ranking, group_size, rank_values)
    chosen = draw_group(groups, seed, wanted)
    extra, unknown = split_wanted(groups, chosen, wanted)
    if chosen is None:
        return Group((), None, 0, 0.0, extra, unknown)
    return Group(groups.members(chosen), chosen, len(groups.ranges), groups.bases[chosen], extra, unknown)
