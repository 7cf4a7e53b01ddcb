"""How alike the parts of a text are, in their order, where it was cut, and what each cut is worth.

The matrix is square; runs of neighbours that belong together are outlined on its diagonal. Below it, on the same axis,
stand the cuts, each with bars for its worth.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.charts.heatmap import COLOURS
from weighbeam.charts.picture import BLUE, ORANGE, choose_ticks, fill_params, sign_number

MAX_CELLS = 64
"""Along a side: more could not be distinguished on a telephone."""
MAX_NUMBERED = 24
WIDEST = 520
WORTH_HEIGHT = 120
OUTLINE = "#14141c"
THOUSAND = 1000


@dataclass(frozen=True, slots=True)
class CutWorth:
    """A cut before the part number `at`, and what it is worth, in the kinds that the chart names."""

    at: int
    label: str
    worth: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PartMatrix:
    """Parts in their order. `cells` are means over runs of parts, `edges` where each run begins and the last ends.

    A cell is NaN where there is no pair. `blocks` are the parts [start, stop) that belong together.
    """

    cells: NDArray[np.float64]
    edges: tuple[int, ...]
    blocks: tuple[tuple[int, int], ...]
    cuts: tuple[CutWorth, ...]
    kinds: tuple[str, ...]
    unit: str


def choose_edges(blocks: Sequence[tuple[int, int]], limit: int = MAX_CELLS) -> list[int]:
    """Where cells begin and the last ends: at most `limit` cells, none across two blocks unless blocks are too many.

    >>> choose_edges([(0, 3), (3, 4)], 8), choose_edges([(0, 3), (3, 4)], 3), choose_edges([(0, 1), (1, 2), (2, 3)], 2)
    ([0, 1, 2, 3, 4], [0, 2, 3, 4], [0, 2, 3])
    """
    count = blocks[-1][1] if blocks else 0
    if len(blocks) > limit:
        blocks = [(0, count)]
    step = max(1, -(-count // limit))
    while True:
        starts = [start for first, last in blocks for start in range(first, last, step)]
        if len(starts) <= limit:
            return [*starts, count]
        step += 1


def mean_cells(vectors: NDArray[np.integer], edges: Sequence[int], scale: float) -> NDArray[np.float64]:
    """Mean dot products of the pairs of each two runs; within a run, of its pairs of different parts.

    >>> mean_cells(np.array([[1, 0], [1, 1], [0, 2]]), [0, 2, 3], 1.0).tolist()
    [[1.0, 1.0], [1.0, nan]]
    """
    floats = vectors.astype(np.float64)
    starts, sizes = np.asarray(edges[:-1], np.intp), np.diff(edges).astype(np.float64)
    sums = np.add.reduceat(floats, starts, axis=0)
    squares = np.add.reduceat(np.vecdot(floats, floats), starts)
    totals, pairs = sums @ sums.T, np.outer(sizes, sizes)
    own = np.diag_indices(len(starts))
    totals[own] -= squares
    pairs[own] -= sizes
    cells = np.full_like(totals, np.nan)
    np.divide(totals, pairs * scale, out=cells, where=pairs > 0)
    return cells


def chart_matrix(matrix: PartMatrix) -> dict[str, Any]:
    """The matrix above the worth of its cuts; without a cut, the matrix alone."""
    count, cells = matrix.edges[-1], np.round(matrix.cells * THOUSAND)
    spec = copy.deepcopy(_frame(len(matrix.kinds)))
    fill_params(
        spec,
        starts=list(matrix.edges[:-1]),
        stops=list(matrix.edges[1:]),
        side=len(matrix.edges) - 1,
        middles=_find_middles(matrix),
    )
    spec["datasets"] = {
        "cells": [{"v": [None if np.isnan(value) else int(value) for value in cells.ravel()]}],
        "blocks": [{"start": start, "stop": stop, "n": n} for n, (start, stop) in enumerate(matrix.blocks, 1)],
        "cuts": _list_bars(matrix),
    }
    _set_scales(spec, matrix, count)
    if not matrix.cuts:
        del spec["vconcat"][1:]
    return spec


def _find_middles(matrix: PartMatrix) -> list[float]:
    """The middle of each block, where blocks are few enough to be numbered."""
    return [(start + stop) / 2 for start, stop in matrix.blocks] if len(matrix.blocks) <= MAX_NUMBERED else []


def _list_bars(matrix: PartMatrix) -> list[dict[str, Any]]:
    return [
        {
            "at": cut.at,
            "kind": kind,
            "worth": worth,
            "shown": sign_number(worth),
            "label": cut.label,
            "sum": sign_number(sum(cut.worth)),
        }
        for cut in matrix.cuts
        for kind, worth in zip(matrix.kinds, cut.worth, strict=True)
    ]


def _set_scales(spec: dict[str, Any], matrix: PartMatrix, count: int) -> None:
    """Set everything that depends on the data: ranges of axes and colours, ticks, legend texts."""
    square, worth = spec["vconcat"]
    cells, outlines = square["layer"]
    known = matrix.cells[~np.isnan(matrix.cells)]
    low, high = (float(known.min(initial=0.0)), float(known.max(initial=0.0))) if len(known) else (0.0, 1.0)
    high = high if high > low else low + 1.0
    cells["encoding"]["color"]["scale"]["domain"] = [low, high]
    cells["encoding"]["color"]["legend"]["values"] = choose_ticks(low, high, 4)
    for layer in (cells, outlines):
        layer["encoding"]["x"]["scale"]["domain"] = layer["encoding"]["y"]["scale"]["domain"] = [0, count]
        layer["encoding"]["y"]["axis"]["values"] = _find_middles(matrix)
    worth["encoding"]["x"]["scale"]["domain"] = [0, count]
    worth["encoding"]["x"]["axis"] |= {"title": matrix.unit, "values": [*_count_ticks(count)]}
    worth["encoding"]["color"]["scale"]["domain"] = list(matrix.kinds)
    least, most = find_heights(matrix.cuts)
    worth["encoding"]["y"]["scale"]["domain"] = [least, most]
    worth["encoding"]["y"]["axis"]["values"] = choose_ticks(least, most, 4)


def find_heights(cuts: Sequence[CutWorth]) -> tuple[float, float]:
    """How far down and up the bars reach: of one cut, gains stand upon each other and losses hang from each other.

    >>> find_heights([CutWorth(1, "", (0.5, 0.25)), CutWorth(2, "", (0.5, -0.125))])
    (-0.125, 0.75)
    """
    most = max((sum(worth for worth in cut.worth if worth > 0) for cut in cuts), default=0.0)
    least = min((sum(worth for worth in cut.worth if worth < 0) for cut in cuts), default=0.0)
    return least, most if most > least else least + 0.01


def _count_ticks(count: int) -> list[int]:
    """
    >>> _count_ticks(9), _count_ticks(150)
    ([0, 2, 4, 6, 8, 9], [0, 50, 100, 150])
    """
    ticks = [int(tick) for tick in choose_ticks(0, count) if tick == int(tick)]
    return [*(tick for tick in ticks if count - tick > 0.04 * count), count]


@cache
def _frame(kinds: int) -> dict[str, Any]:
    import altair as alt

    params = [alt.param(name=name, value=[]) for name in ("starts", "stops", "middles")]
    chart = alt.vconcat(alt.layer(_layer_cells(), _layer_blocks()), _chart_worth(kinds), spacing=14)
    spec: dict[str, Any] = chart.add_params(*params, alt.param(name="side", value=1)).to_dict()
    spec.pop("config", None)
    return {**spec, "usermeta": {"widest": WIDEST, "square": 0}}


def _layer_cells() -> Any:
    """Values come as one list, row after row, in thousandths: a cell is known by its place in it."""
    import altair as alt

    line: dict[str, Any] = {"domain": [0, 1], "nice": False, "zero": False}
    warmth = alt.Scale(domain=[0, 1], range=list(COLOURS), interpolate="rgb", clamp=True)
    legend = alt.Legend(
        title="cosine", orient="top", gradientLength=160, gradientThickness=10, format=".2~f", values=[]
    )
    return (
        alt.Chart(alt.NamedData("cells"))
        .transform_flatten(["v"])
        .transform_window(i="row_number()")
        .transform_filter("isValid(datum.v)")
        .transform_calculate(
            left="starts[(datum.i - 1) % side]",
            right="stops[(datum.i - 1) % side]",
            top="starts[floor((datum.i - 1) / side)]",
            bottom="stops[floor((datum.i - 1) / side)]",
            cosine=f"datum.v / {THOUSAND}",
        )
        .mark_rect(aria=False)
        .encode(
            x=alt.X("left:Q", scale=alt.Scale(**line), axis=None),
            x2="right:Q",
            y=alt.Y("top:Q", scale=alt.Scale(**line, reverse=True), axis=_axis()),
            y2="bottom:Q",
            color=alt.Color("cosine:Q", scale=warmth, legend=legend),
            tooltip=[
                alt.Tooltip("top:Q", title="row"),
                alt.Tooltip("left:Q", title="column"),
                alt.Tooltip("cosine:Q", format=".3f"),
            ],
        )
    )


def _axis() -> Any:
    """The number of each block at its middle; left to itself, Vega would leave some out."""
    import altair as alt

    return alt.Axis(
        title=None, values=[], ticks=False, domain=False, grid=False, labelOverlap=False, labelFlush=False,
        labelExpr="indexof(middles, datum.value) + 1", tickCount=MAX_NUMBERED,
    )  # fmt: skip


def _layer_blocks() -> Any:
    import altair as alt

    line: dict[str, Any] = {"domain": [0, 1], "nice": False, "zero": False}
    return (
        alt.Chart(alt.NamedData("blocks"))
        .mark_rect(filled=False, stroke=OUTLINE, strokeWidth=2, aria=False)
        .encode(
            x=alt.X("start:Q", scale=alt.Scale(**line), axis=None),
            x2="stop:Q",
            y=alt.Y("start:Q", scale=alt.Scale(**line, reverse=True), axis=_axis()),
            y2="stop:Q",
        )
    )


def _chart_worth(kinds: int) -> Any:
    import altair as alt

    colours = alt.Scale(domain=[], range=[BLUE, ORANGE][:kinds])
    return (
        alt.Chart(alt.NamedData("cuts"), height=WORTH_HEIGHT)
        .mark_bar(width=5)
        .encode(
            x=alt.X(
                "at:Q", scale=alt.Scale(domain=[0, 1], nice=False, zero=False, padding=0), axis=alt.Axis(grid=False)
            ),
            y=alt.Y("worth:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=alt.Axis(title=None, format=".2~g")),
            color=alt.Color("kind:N", scale=colours, legend=alt.Legend(title=None, orient="bottom")),
            tooltip=[
                alt.Tooltip("label:N", title="border"),
                alt.Tooltip("kind:N"),
                alt.Tooltip("shown:N", title="gains"),
                alt.Tooltip("sum:N", title="in all"),
            ],
        )
    )
