"""How alike the answers of a round are, as one chart.

Rows and columns are places 0, 1, 2 … on a plain number line and never names, so two hotkeys that begin alike stay
apart, and nothing a miner chose reaches an expression of the chart: names are data that expressions look up.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from weighbeam.charts.text import shorten_hotkey, tame_text
from weighbeam.core.errors import require

if TYPE_CHECKING:
    import altair as alt

SHORT, LONG, LONGEST_LINE = 8, 64, 120
MAX_PRINTED = 12
FLAG = "× "
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
INK, PALE_INK, RED = "#1c1c28", "#ffffff", "#c2001b"
COLOURS = ("#e8eff6", "#fdf2cc", "#fdc777", "#f57b42", "#cf2a27", "#7f0a1f")
PALE_INK_FROM = 0.72


@dataclass(frozen=True, slots=True)
class Heatmap:
    """Answers in the order they are drawn. `similarity` is square; an answer in no cluster has the cluster `None`."""

    title: str
    subtitle: tuple[str, ...]
    hotkeys: tuple[str, ...]
    clusters: tuple[int | None, ...]
    flagged: tuple[bool, ...]
    similarity: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.hotkeys)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Lengths in pixels, chosen by how many answers there are."""

    cell: float
    label: int
    gap: float
    angle: int


def choose_sizes(count: int) -> Sizes:
    """The fewer answers, the larger each is drawn.

    >>> [choose_sizes(count).cell * count for count in (2, 10, 100)]
    [192, 480, 1400]
    """
    if count <= MAX_PRINTED:
        return Sizes(cell=96 if count <= 4 else 48, label=12, gap=1, angle=-45)
    if count <= 40:
        return Sizes(cell=22, label=12, gap=0.75, angle=-90)
    return Sizes(cell=14 if count <= 100 else 12, label=11 if count <= 100 else 10, gap=0, angle=-90)


def chart_heatmap(heatmap: Heatmap) -> dict[str, Any]:
    """The chart as a Vega-Lite specification that holds its data."""
    require(len(heatmap) > 0, "nothing_to_draw", "no answer arrived, so there is nothing to compare")
    names = [(FLAG if flag else "") + shorten_hotkey(key, SHORT) for key, flag in _marked(heatmap)]
    given = {"names": names, "flags": list(heatmap.flagged)}
    spec = copy.deepcopy(frame_heatmap(len(heatmap)))
    for param in spec["params"]:
        if param["name"] in given:
            param["value"] = given[param["name"]]
    spec["title"]["text"] = tame_text(heatmap.title, LONGEST_LINE)
    spec["title"]["subtitle"] = [tame_text(line, LONGEST_LINE) for line in heatmap.subtitle]
    spec["datasets"] = {
        "cells": list(_list_cells(heatmap)),
        "answers": list(_list_answers(heatmap)),
        "blocks": list(_list_blocks(heatmap)),
    }
    return spec


@lru_cache(maxsize=64)
def frame_heatmap(count: int) -> dict[str, Any]:
    """The chart of so many answers, made and checked once, to be filled with those of a round."""
    import altair as alt

    sizes = choose_sizes(count)
    layers = [_layer_cells(count, sizes), _layer_blocks(count)]
    if count <= MAX_PRINTED:
        layers.append(_layer_numbers())
    chart = (
        alt.layer(*layers)
        .add_params(alt.param(name="names", value=[]), alt.param(name="flags", value=[]))
        .properties(width=sizes.cell * count, height=sizes.cell * count, title=_title(), padding=16)
        .configure(font=FONT, background="#ffffff")
        .configure_view(stroke=None)
    )
    spec: dict[str, Any] = chart.to_dict()
    return spec


def _layer_cells(count: int, sizes: Sizes) -> "alt.Chart":
    import altair as alt

    answers = alt.LookupData(alt.NamedData("answers"), "place", ["name", "stands"])
    line = alt.Scale(domain=[0, count], nice=False, zero=False)
    down = alt.Scale(domain=[0, count], nice=False, zero=False, reverse=True)
    warmth = alt.Scale(domain=[0, 1], range=list(COLOURS), interpolate="rgb", clamp=True)
    pointed = alt.selection_point(name="pointed", on="pointerover", clear="pointerout", empty=False)
    steps = [0, 0.25, 0.5, 0.75, 1]
    legend = alt.Legend(title="cosine", format=".2f", values=steps, gradientLength=min(240, count * sizes.cell))
    layer: alt.Chart = (
        alt.Chart(alt.NamedData("cells"))
        .transform_calculate(right="datum.x + 1", bottom="datum.y + 1")
        .transform_lookup("y", answers, ["row", "of row"])
        .transform_lookup("x", answers, ["column", "of column"])
        .mark_rect(aria=False)
        .encode(
            x=alt.X("x:Q", scale=line, axis=_axis("top", count, sizes)),
            x2="right:Q",
            y=alt.Y("y:Q", scale=down, axis=_axis("left", count, sizes)),
            y2="bottom:Q",
            color=alt.Color("v:Q", scale=warmth, legend=legend),
            stroke=alt.when(pointed).then(alt.value(INK)).otherwise(alt.value("#ffffff")),
            strokeWidth=alt.when(pointed).then(alt.value(2)).otherwise(alt.value(sizes.gap)),
            tooltip=[
                alt.Tooltip("row:N"),
                alt.Tooltip("of row:N", title="stands"),
                alt.Tooltip("column:N"),
                alt.Tooltip("of column:N", title="stands "),
                alt.Tooltip("v:Q", title="cosine", format=".6f"),
            ],
        )
        .add_params(pointed)
    )
    return layer


def _axis(orient: Literal["top", "left"], count: int, sizes: Sizes) -> "alt.Axis":
    """A name in the middle of every place; left to itself, Vega would leave some out."""
    import altair as alt

    angle = sizes.angle if orient == "top" else 0
    return alt.Axis(
        orient=orient,
        values=[place + 0.5 for place in range(count)],
        labelExpr="names[floor(datum.value)]",
        labelColor={"condition": {"test": "flags[floor(datum.value)]", "value": RED}, "value": INK},
        labelAngle=angle,
        labelAlign="left" if angle else "right",
        labelBaseline="middle",
        labelFontSize=sizes.label,
        labelLimit=0,
        labelOverlap=False,
        labelFlush=False,
        labelPadding=6,
        tickCount=count,
        ticks=False,
        domain=False,
        grid=False,
        title=None,
    )


def _layer_numbers() -> "alt.Chart":
    import altair as alt

    layer: alt.Chart = (
        alt.Chart(alt.NamedData("cells"))
        .transform_calculate(middle="datum.x + 0.5", centre="datum.y + 0.5")
        .mark_text(fontSize=12, aria=False)
        .encode(
            x="middle:Q",
            y="centre:Q",
            text=alt.Text("v:Q", format=".2f"),
            color=alt.condition(f"datum.v > {PALE_INK_FROM}", alt.value(PALE_INK), alt.value(INK)),
        )
    )
    return layer


def _layer_blocks(count: int) -> "alt.Chart":
    import altair as alt

    layer: alt.Chart = (
        alt.Chart(alt.NamedData("blocks"))
        .mark_rect(filled=False, stroke=INK, strokeWidth=2 if count <= 40 else 1.5, aria=False)
        .encode(x="start:Q", x2="stop:Q", y="start:Q", y2="stop:Q")
    )
    return layer


def _title() -> "alt.TitleParams":
    import altair as alt

    return alt.TitleParams(
        text="",
        subtitle=[],
        anchor="start",
        frame="bounds",
        fontSize=16,
        subtitleFontSize=12,
        subtitleColor="#55556a",
        subtitlePadding=5,
        offset=14,
    )


def _marked(heatmap: Heatmap) -> Iterator[tuple[str, bool]]:
    return zip(heatmap.hotkeys, heatmap.flagged, strict=True)


def _list_cells(heatmap: Heatmap) -> Iterator[dict[str, float]]:
    for row, values in enumerate(heatmap.similarity.tolist()):
        for column, value in enumerate(values):
            yield {"x": column, "y": row, "v": round(value, 6)}


def _list_answers(heatmap: Heatmap) -> Iterator[dict[str, Any]]:
    rows = zip(heatmap.hotkeys, heatmap.clusters, heatmap.flagged, strict=True)
    for place, (hotkey, cluster, flagged) in enumerate(rows):
        stands = "flagged" if flagged else "in no cluster" if cluster is None else f"in cluster {cluster}"
        yield {"place": place, "name": tame_text(hotkey, LONG), "stands": stands}


def _list_blocks(heatmap: Heatmap) -> Iterator[dict[str, int]]:
    """The square of each cluster on the diagonal."""
    for cluster, members in groupby(range(len(heatmap)), key=lambda place: heatmap.clusters[place]):
        places = list(members)
        if cluster is not None:
            yield {"start": places[0], "stop": places[-1] + 1}
