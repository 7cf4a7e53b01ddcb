"""The heatmap of a round: order of miners and captions (spec § 12); drawing happens elsewhere."""

from collections.abc import Iterator, Sequence

import numpy as np

from weighbeam.charts.heatmap import Heatmap
from weighbeam.charts.text import tame_text
from weighbeam.core.text import count_noun
from weighbeam.mechanism.records import Observation
from weighbeam.mechanisms.inference.agreement.filter import FilteredAnswers
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.score import RejudgedRound, replay_round

LONGEST_ROUND = 48


def arrange_heatmap(params: InferenceParams, observation: Observation, round_id: str) -> Heatmap:
    """All answers that arrived, cluster by cluster and by hotkey within each.

    Clusters are those the round was judged by, each copy with the answer it copies. Cluster 1 is the dominant one, the
    others follow by their smallest hotkey. Who is in none, flagged or removed before clustering, comes last, by hotkey.
    """
    replayed = replay_round(params, observation)
    received, filtered = replayed.given.received, replayed.judged.filtered
    clusters = number_clusters(filtered)
    order = sorted(range(len(received)), key=lambda i: (clusters[i] is None, clusters[i] or 0, received.hotkeys[i]))
    rows = np.array(order, dtype=np.intp)
    return Heatmap(
        title=f"Round {tame_text(round_id, LONGEST_ROUND)}: {_describe_verdict(replayed)}",
        subtitle=tuple(_describe_order(clusters, filtered.flagged.tolist())),
        hotkeys=tuple(received.name(order)),
        clusters=tuple(clusters[i] for i in order),
        flagged=tuple(filtered.flagged[rows].tolist()),
        similarity=received.similarity[np.ix_(rows, rows)],
    )


def number_clusters(filtered: FilteredAnswers) -> list[int | None]:
    """The number of each answer's cluster, the dominant one first."""
    numbers: list[int | None] = [None] * len(filtered.flagged)
    ranked = sorted(filtered.clusters, key=lambda cluster: (cluster != filtered.dominant, cluster))
    for number, cluster in enumerate(ranked, start=1):
        for member in cluster:
            numbers[member] = number
    return numbers


def _describe_verdict(replayed: RejudgedRound) -> str:
    judged = replayed.judged
    if judged.void:
        return "void, too few answers to score"
    return f"consensus {judged.consensus.score:.3f}, {'achieved' if judged.consensus.achieved else 'not achieved'}"


def _describe_order(clusters: Sequence[int | None], flagged: Sequence[bool]) -> Iterator[str]:
    found = max((number or 0 for number in clusters), default=0)
    yield f"{count_noun(len(clusters), 'answer')}, {count_noun(found, 'cluster')} (framed)"
    if any(flagged):
        yield f"× in red: {sum(flagged)} flagged for low quality"
    apart = clusters.count(None) - sum(flagged)
    if apart:
        yield f"after the frames: {apart} removed as different or short"
