"""Alerts of a round: copies, garbage clusters and other things to look at (spec § 11)."""

from itertools import combinations
from typing import Any

import numpy as np

from weighbeam.mechanisms.inference.agreement.clusters import find_clusters, take_submatrix
from weighbeam.mechanisms.inference.agreement.filter import FilteredAnswers, ReceivedAnswers
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.tolerance import reaches


def raise_alerts(
    received: ReceivedAnswers, filtered: FilteredAnswers, void: bool, params: InferenceParams
) -> list[dict[str, Any]]:
    """`{code, severity, hotkeys}`, by code, then hotkeys."""
    alerts = [_alert("void_round", "warning", [])] if void else []
    if len(received) and filtered.flagged.all():
        alerts.append(_alert("all_low_quality", "critical", list(received.hotkeys)))
    for group in find_copies(received, filtered, params):
        alerts.append(_alert("duplicate_answers", "info", received.name(group)))
    for cluster in find_garbage(received, filtered, params):
        severity = "critical" if 2 * len(cluster) >= len(received) else "warning"
        alerts.append(_alert("low_quality_cluster", severity, received.name(cluster)))
    return sorted(alerts, key=lambda alert: (alert["code"], alert["hotkeys"]))


def find_copies(received: ReceivedAnswers, filtered: FilteredAnswers, params: InferenceParams) -> list[list[int]]:
    """Content groups long enough to prove copying: those that share pay, or would among others."""
    if received.exact:
        return []
    least = params.duplicate_min_words
    return [group for group in filtered.list_groups() if any(received.words[i] >= least for i in group)]


def describe_copies(
    received: ReceivedAnswers, filtered: FilteredAnswers, params: InferenceParams
) -> list[dict[str, Any]]:
    """Copies as the table of duplicates keeps them: who, and how alike the least alike two of them are."""
    copies = []
    for group in find_copies(received, filtered, params):
        pairs = tuple(zip(*combinations(group, 2), strict=True))
        overlap = 0.0 if received.overlap is None else float(received.overlap[pairs].min())
        cosine = float(received.similarity[pairs].min())
        copies.append({"hotkeys": received.name(group), "cosine": cosine, "overlap": round(overlap, 6)})
    return copies


def find_garbage(received: ReceivedAnswers, filtered: FilteredAnswers, params: InferenceParams) -> list[list[int]]:
    """Clusters of all answers with words, each for itself, that hold two flagged ones and little quality."""
    if np.count_nonzero(filtered.flagged & (received.words > 0)) < 2:
        return []
    worded = np.flatnonzero(received.words > 0)
    clusters = find_clusters(take_submatrix(received.similarity, worded), params)
    members = [worded[cluster] for cluster in clusters]
    return [
        cluster.tolist()
        for cluster in members
        if filtered.flagged[cluster].sum() >= 2
        and not reaches(float(received.quality[cluster].mean()), params.garbage_quality)
    ]


def _alert(code: str, severity: str, hotkeys: list[str]) -> dict[str, Any]:
    return {"code": code, "severity": severity, "hotkeys": hotkeys}
