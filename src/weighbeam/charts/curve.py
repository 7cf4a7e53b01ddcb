"""Pay of novelty over similarity, with the contributions of a corpus on the curve.

The curve is on a logarithmic scale, so an exponential is a straight line; below it, on the same axis, how many
contributions were how near to what came before them.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weighbeam.charts.heatmap import FONT, INK, LONGEST_LINE
from weighbeam.charts.text import tame_text
from weighbeam.core.errors import require

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT, COUNTED_HEIGHT = 640, 320, 110
BLUE, ORANGE, GREY, PALE = "#2458a6", "#e0861a", "#9a9aa8", "#f1f1f4"
OUTCOMES = ("paid", "held", "nothing paid")
Point = tuple[float, float]
Bar = tuple[float, float, str, int]


@dataclass(frozen=True, slots=True)
class Curve:
    """`points` and `other` are (similarity, tokens above 0); `marks` are points with a label of their own; a bar is
    (from, to, outcome, count); right of `reference` nothing is paid."""

    title: str
    subtitle: tuple[str, ...]
    start: float
    reference: float
    points: tuple[Point, ...]
    marks: tuple[Point, ...]
    other: tuple[Point, ...]
    bars: tuple[Bar, ...]


def chart_curve(curve: Curve) -> dict[str, Any]:
    """The chart as a Vega-Lite specification that holds its data."""
    import altair as alt

    require(len(curve.points) > 0, "nothing_to_draw", "under these parameters nothing is paid here")
    layers = [_layer_unpaid(curve), *([_layer_line(curve, "other")] if curve.other else [])]
    layers += [_layer_line(curve, "points"), *_layer_marks(curve)]
    above = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    chart = (
        alt.vconcat(above, _chart_bars(curve), spacing=12)
        .properties(title=_title(curve), padding=16)
        .configure(font=FONT, background="#ffffff")
        .configure_view(stroke="#d8d8e0")
        .configure_axis(gridColor="#ececf1", labelColor=INK, titleColor=INK, titleFontWeight="normal")
    )
    spec: dict[str, Any] = chart.to_dict()
    spec["datasets"] = {
        "unpaid": [{"x": curve.reference, "x2": 1.0, "middle": (curve.reference + 1.0) / 2}],
        "points": [{"x": x, "y": y} for x, y in curve.points],
        "other": [{"x": x, "y": y} for x, y in curve.other],
        "marks": [{"x": x, "y": y} for x, y in curve.marks],
        "bars": stack_bars(curve.bars),
    }
    return spec


def _across(curve: Curve, title: str | None) -> "alt.X":
    import altair as alt

    scale = alt.Scale(domain=[curve.start, 1.0], nice=False, zero=False)
    return alt.X("x:Q", scale=scale, axis=alt.Axis(title=title, format=".2f", tickCount=8))


def _layer_unpaid(curve: Curve) -> "alt.Chart":
    import altair as alt

    layer: alt.Chart = (
        alt.Chart(alt.NamedData("unpaid")).mark_rect(color=PALE).encode(x=_across(curve, None), x2="x2:Q")
    )
    return layer


def _layer_line(curve: Curve, name: str) -> "alt.Chart":
    """The curve that pays in front of the one it is compared with, which is drawn wide and pale to be seen at all."""
    import altair as alt

    ours = name == "points"
    scale = alt.Scale(type="log", nice=False)
    layer: alt.Chart = (
        alt.Chart(alt.NamedData(name))
        .mark_line(color=BLUE if ours else ORANGE, strokeWidth=2 if ours else 7, opacity=1 if ours else 0.45)
        .encode(
            x=_across(curve, None),
            y=alt.Y("y:Q", scale=scale, axis=alt.Axis(title="tokens", format="~g", values=list_decades(curve.points))),
            tooltip=[alt.Tooltip("x:Q", title="similarity", format=".4f"), alt.Tooltip("y:Q", title="tokens")],
        )
    )
    return layer


def _layer_marks(curve: Curve) -> "list[alt.Chart]":
    import altair as alt

    marked = alt.Chart(alt.NamedData("marks")).encode(x=_across(curve, None), y="y:Q")
    label = marked.mark_text(align="left", dx=8, dy=-8, fontSize=12, color=INK).encode(
        text=alt.Text("y:Q", format="~g")
    )
    unpaid = alt.Chart(alt.NamedData("unpaid")).encode(x=alt.X("middle:Q"), y=alt.value(16))
    return [
        marked.mark_point(filled=True, size=50, color=BLUE, opacity=1),
        label,
        unpaid.mark_text(text="nothing paid", fontSize=11, color="#55556a"),
    ]


def _chart_bars(curve: Curve) -> "alt.Chart":
    import altair as alt

    top = max((bar["y2"] for bar in stack_bars(curve.bars)), default=1)
    ticks = [0, top // 2, top] if top >= 4 else [0, top]
    colours = alt.Scale(domain=list(OUTCOMES), range=[BLUE, ORANGE, GREY])
    chart: alt.Chart = (
        alt.Chart(alt.NamedData("bars"))
        .mark_rect(stroke="#ffffff", strokeWidth=0.5)
        .encode(
            x=_across(curve, "highest similarity to anything before it"),
            x2="x2:Q",
            y=alt.Y(
                "y:Q",
                scale=alt.Scale(domain=[0, top], nice=False),
                axis=alt.Axis(title="contributions", values=ticks, format="d"),
            ),
            y2="y2:Q",
            color=alt.Color("outcome:N", scale=colours, legend=alt.Legend(title=None, orient="bottom")),
            tooltip=[alt.Tooltip("outcome:N"), alt.Tooltip("n:Q", title="contributions")],
        )
        .properties(width=WIDTH, height=COUNTED_HEIGHT)
    )
    return chart


def stack_bars(bars: Iterable[Bar]) -> list[dict[str, Any]]:
    """Bars of one place upon each other.

    >>> [(bar["y"], bar["y2"]) for bar in stack_bars([(0.7, 0.71, "held", 2), (0.7, 0.71, "paid", 3)])]
    [(0, 2), (2, 5)]
    """
    heights: dict[float, int] = {}
    stacked = []
    for start, stop, outcome, n in bars:
        below = heights.get(start, 0)
        heights[start] = below + n
        stacked.append({"x": start, "x2": stop, "y": below, "y2": below + n, "outcome": outcome, "n": n})
    return stacked


def list_decades(points: Iterable[Point]) -> list[float]:
    """
    >>> list_decades([(0.95, 0.02), (0.8, 10.0)])
    [0.01, 0.1, 1.0, 10.0]
    """
    tokens = [y for _, y in points]
    return [10.0**power for power in range(math.floor(math.log10(min(tokens))), math.ceil(math.log10(max(tokens))) + 1)]


def _title(curve: Curve) -> "alt.TitleParams":
    import altair as alt

    return alt.TitleParams(
        text=tame_text(curve.title, LONGEST_LINE),
        subtitle=[tame_text(line, LONGEST_LINE) for line in curve.subtitle],
        anchor="start",
        fontSize=16,
        subtitleFontSize=12,
        subtitleColor="#55556a",
        subtitlePadding=5,
        offset=14,
    )
