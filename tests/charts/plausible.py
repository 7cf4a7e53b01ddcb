"""Heatmaps as rounds make them: some clusters that are alike, some garbage that is like nothing."""

import numpy as np

from weighbeam.charts.heatmap import Heatmap

LETTERS = list("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")


def make_heatmap(count: int, seed: int = 1) -> Heatmap:
    dice = np.random.default_rng(seed)
    groups, flagged = min(6, count // 4 + 1), count // 6
    label = np.sort(dice.integers(0, groups, count))
    points = dice.normal(size=(groups, 40))[label] + 1.1 * dice.normal(size=40) + 0.55 * dice.normal(size=(count, 40))
    points[count - flagged :] = dice.normal(size=(flagged, 40))
    points /= np.linalg.norm(points, axis=1)[:, None]
    similarity = np.round(points @ points.T, 6)
    np.fill_diagonal(similarity, 1.0)
    numbers = {old: new for new, old in enumerate(dict.fromkeys(label[: count - flagged].tolist()), start=1)}
    return Heatmap(
        title="Round inference-000042: consensus 0.812, achieved",
        subtitle=(
            f"{count} answers, {len(numbers)} clusters (framed)",
            f"× in red: {flagged} flagged for low quality",
        ),
        hotkeys=tuple("5" + "".join(dice.choice(LETTERS, 47)) for _ in range(count)),
        clusters=tuple(numbers[old] for old in label[: count - flagged].tolist()) + (None,) * flagged,
        flagged=(False,) * (count - flagged) + (True,) * flagged,
        similarity=similarity,
    )
