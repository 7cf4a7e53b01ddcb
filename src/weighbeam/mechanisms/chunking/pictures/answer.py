"""Pictures of one answer: its segments with its borders, and its reward step by step."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.charts.matrix import CutWorth, PartMatrix, chart_matrix, choose_edges, mean_cells
from weighbeam.charts.picture import ChartPicture, shorten_number
from weighbeam.charts.waterfall import WaterfallStep, chain_steps, chart_waterfall
from weighbeam.mechanism.records import Observation, Scored
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.pictures.borders import (
    BorderGain,
    SampledSegments,
    find_answer,
    list_segments,
    measure_borders,
)
from weighbeam.mechanisms.chunking.reward import SQUARE_SCALE, mix_retrieval

PENALTIES = (("size_penalty", "too long"), ("qty_penalty", "too many"), ("time_penalty", "too late"))
KINDS = ("by meaning", "by limits")
MAX_ROWS = 200
"""Of a table beside a picture."""
LEAST_OTHER = 1e-9


def draw_answer(
    params: ChunkingParams, observation: Observation, scored: Scored, hotkey: str
) -> tuple[ChartPicture, ...]:
    """Nothing for an answer without a reward of its own: it failed, or could not be judged."""
    score = next(score for score in scored.scores if score.hotkey == hotkey)
    if score.parts is None or score.value is None:
        return ()
    pictures = [picture_reward(list_steps(params, score.parts, score.value), score.parts)]
    segments = list_segments(observation, find_answer(observation, hotkey)[1])
    if segments is not None and len(segments.chunk_of) > 1:
        gains = measure_borders(params, observation, hotkey, segments, score.parts)
        pictures.append(picture_segments(segments, gains))
    return tuple(pictures)


def list_steps(params: ChunkingParams, parts: Mapping[str, Any], reward: float) -> list[WaterfallStep]:
    """From 0 over similarity, retrieval where the round counts it, and penalties to the reward; each penalty takes its
    part of what is left before it.

    The steps end at the reward; everything else in it is a step of its own.
    """
    similarity = parts["similarity"]
    steps = chain_steps([("within chunks", parts["intra"]), ("between chunks", -parts["inter"])])
    steps.append(WaterfallStep("similarity", 0.0, similarity, total=True))
    worth = mixed = mix_retrieval(parts)
    if "retrieval" in parts:
        steps.append(WaterfallStep("retrieval", similarity, mixed))
        steps.append(WaterfallStep("both, mixed", 0.0, mixed, total=True))
    if parts["shape"] == "exp":
        worth = math.exp(mixed)
        steps.append(WaterfallStep("e^ of that", mixed, worth))
    turned = parts["shape"] == "signed" and mixed < 0
    exponent, at = 0.0, worth
    for name, label in PENALTIES:
        exponent = min(exponent + parts[name], params.max_exponent)
        factor = params.base**exponent
        after = worth / factor if turned else worth * factor
        steps.append(WaterfallStep(label, at, after))
        at = after
    if abs(reward - at) > LEAST_OTHER * max(abs(reward), abs(worth)):
        steps.append(WaterfallStep("other parts", at, reward))
    return [*steps, WaterfallStep("reward", 0.0, reward, total=True)]


def picture_reward(steps: Sequence[WaterfallStep], parts: Mapping[str, Any]) -> ChartPicture:
    mixed = ""
    if "retrieval" in parts:
        found, weight = shorten_number(parts["retrieval"]), parts["retrieval_weight"]
        mixed = f" mixed with the retrieval of hidden questions ({found}, of which {weight:g} counts),"
    return ChartPicture(
        "reward-steps",
        "How the reward comes about",
        f"Mean similarity within chunks, less that between chunks,{mixed} less what penalties take away.",
        chart_waterfall(steps, "similarity, then reward"),
        ("step", "from", "to", "change"),
        tuple((step.label, step.start, step.stop, None if step.total else step.change) for step in steps),
    )


def picture_segments(segments: SampledSegments, gains: Sequence[BorderGain]) -> ChartPicture:
    """Chunks count from 1, as everywhere on pages."""
    edges = choose_edges(segments.runs)
    count, cells = len(segments.chunk_of), len(edges) - 1
    joined = "" if cells == count else f" {count} segments in {cells} rows: a cell is the mean of its pairs."
    cuts = tuple(CutWorth(one.at, name_border(one), (one.meaning, one.limits)) for one in gains)
    matrix = PartMatrix(
        mean_cells(segments.vectors, edges, float(SQUARE_SCALE)),
        tuple(edges),
        segments.runs,
        cuts,
        KINDS,
        "segments, in the order of the document",
    )
    return ChartPicture(
        "segment-matrix",
        "How alike the segments are, and what each border gains",
        "Squares on the diagonal are chunks: inside should be warm, outside pale. The bars are what the reward would "
        f"lose without the border: by similarity, and by the limits of size and number.{joined}",
        chart_matrix(matrix),
        ("border between chunks", "before segment", "gain by meaning", "gain by limits", "gain", "reward without it"),
        tuple(
            (name_border(one), one.at + 1, one.meaning, one.limits, one.gain, one.reward) for one in gains[:MAX_ROWS]
        ),
    )


def name_border(one: BorderGain) -> str:
    return f"{one.before + 1} and {one.after + 1}"
