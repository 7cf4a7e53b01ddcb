"""Scores to raw weights: half as much for each next rank (spec § 11)."""

from collections.abc import Collection, Mapping

from weighbeam.core.stats import share_geometric


def weigh_scores(
    scores: Mapping[str, float | None], eligible: Collection[str] | None, curve: float
) -> dict[str, float]:
    """Raw weight by hotkey; those without a score or not eligible get 0 and use up no place.

    >>> weigh_scores({"a": 0.1, "b": None, "c": 0.2}, None, 0.5)
    {'a': 1.0, 'b': 0.0, 'c': 0.5}
    """
    paid = {
        hotkey: score
        for hotkey, score in scores.items()
        if score is not None and score >= 0 and (eligible is None or hotkey in eligible)
    }
    raw = dict(zip(paid, share_geometric(list(paid.values()), curve), strict=True))
    return {hotkey: raw.get(hotkey, 0.0) for hotkey in scores}
