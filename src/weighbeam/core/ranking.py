"""Places within a group, and an order among equals that favours nobody for good."""

from collections.abc import Mapping, Sequence
from typing import Literal

from weighbeam.core.canonical import seeded_digest
from weighbeam.core.ties import tie_runs

Ties = Literal["average", "best"]


def place_values(values: Sequence[float], ties: Ties = "average") -> list[float]:
    """Places from 0, highest value first; equals share the average (or the best) of their places.

    >>> place_values([0.9, 0.5, 0.5, 0.1])
    [0.0, 1.5, 1.5, 3.0]
    >>> place_values([0.9, 0.5, 0.5, 0.1], ties="best")
    [0.0, 1.0, 1.0, 3.0]
    """
    places = [0.0] * len(values)
    for first, equals in tie_runs([-value for value in values]):
        shared = float(first) if ties == "best" else first + (len(equals) - 1) / 2
        for i in equals:
            places[i] = shared
    return places


def order_standings(scores: Mapping[str, float | None], seed: str | int) -> list[str]:
    """Hotkeys by score ascending, never-ranked (null or negative) last, equals by seeded digest.

    >>> order_standings({"a": None, "b": 2.0, "c": 0.5}, "s")
    ['c', 'b', 'a']
    """

    def rank_key(hotkey: str) -> tuple[bool, float, str]:
        score = scores[hotkey]
        ranked = score is not None and score >= 0
        return not ranked, score if ranked and score is not None else 0.0, seeded_digest(seed, hotkey)

    return sorted(scores, key=rank_key)
