"""How a number comes about, step by step: bars that begin where the one above them ended."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from weighbeam.charts.picture import (
    BLUE,
    GREEN,
    RED,
    choose_ticks,
    fill_params,
    finish_frame,
    shorten_number,
    sign_number,
)

ROW = 30
DATA = "steps"
ROOM = 0.28
"""Of the axis, right of the longest bar, for its number."""
WIDEST_RATIO = 3.0
"""A bar longer than this many times the first sum is cut off, so that the others remain visible."""


@dataclass(frozen=True, slots=True)
class WaterfallStep:
    """One bar: from `start` to `stop`; a `total` begins at 0."""

    label: str
    start: float
    stop: float
    total: bool = False

    @property
    def change(self) -> float:
        return self.stop - self.start


def chain_steps(changes: Sequence[tuple[str, float]], start: float = 0.0) -> list[WaterfallStep]:
    """Steps that follow each other.

    >>> [(step.start, step.stop) for step in chain_steps([("in", 0.5), ("out", -0.25)])]
    [(0.0, 0.5), (0.5, 0.25)]
    """
    steps, at = [], start
    for label, change in changes:
        steps.append(WaterfallStep(label, at, at + change))
        at += change
    return steps


def chart_waterfall(steps: Sequence[WaterfallStep], title: str) -> dict[str, Any]:
    """Steps from top to bottom; the axis ends where the bars do.

    Bars beyond all measure are cut off: ↔ stands beside their number.
    """
    low, high, scale_high = find_ends(steps)
    spec = copy.deepcopy(_frame())
    spec["height"] = ROW * len(steps)
    spec["datasets"][DATA] = [_bar(number, step, low, high) for number, step in enumerate(steps)]
    fill_params(spec, names=[step.label for step in steps])
    for layer in spec["layer"]:
        if "x" in layer["encoding"] and "scale" in layer["encoding"]["x"]:
            layer["encoding"]["x"]["scale"]["domain"] = [low, scale_high]
            layer["encoding"]["x"]["axis"] |= {"title": title, "values": choose_ticks(low, high)}
    return spec


def find_ends(steps: Sequence[WaterfallStep]) -> tuple[float, float, float]:
    """Where the bars begin and end, and where the axis ends: right of the bars there is room for numbers.

    >>> steps = [WaterfallStep("in", 0.0, 0.5), WaterfallStep("out", 0.5, 0.4), WaterfallStep("long", 0.4, -1e80)]
    >>> find_ends(steps)[:2]
    (-1.5, 0.5)
    """
    first = max((abs(step.stop) for step in steps[:2]), default=0.0) or 1.0
    limit = WIDEST_RATIO * first
    ends = [end for step in steps for end in (step.start, step.stop)]
    low, high = max(min(0.0, *ends), -limit), min(max(0.0, *ends), limit)
    high = high if high > low else low + 1.0
    return low, high, high + (high - low) * ROOM / (1 - ROOM)


def _bar(number: int, step: WaterfallStep, low: float, high: float) -> dict[str, Any]:
    start, stop = (min(max(end, low), high) for end in (step.start, step.stop))
    cut = start != stop and (start, stop) != (step.start, step.stop)
    shown = shorten_number(step.stop) if step.total else sign_number(step.change)
    return {
        "row": number,
        "kind": "total" if step.total else "rise" if step.change >= 0 else "fall",
        "from": start,
        "to": stop,
        "edge": max(start, stop),
        "shown": f"{shown} ↔" if cut else shown,
        "label": step.label,
    }


@cache
def _frame() -> dict[str, Any]:
    import altair as alt

    base = alt.Chart(alt.NamedData(DATA))
    axis = alt.Axis(
        title=None,
        ticks=False,
        domain=False,
        labelLimit=130,
        minExtent=100,
        labelExpr="names[datum.value]",
        labelFontSize=12,
    )
    y = alt.Y("row:O", axis=axis)
    x = alt.X(
        "from:Q", scale=alt.Scale(domain=[0, 1], nice=False, zero=False), axis=alt.Axis(format="~g", domain=False)
    )
    colours = alt.Scale(domain=["rise", "fall", "total"], range=[GREEN, RED, BLUE])
    bars = base.mark_bar(size=16).encode(
        x=x,
        x2="to:Q",
        y=y,
        color=alt.Color("kind:N", scale=colours, legend=None),
        tooltip=[alt.Tooltip("label:N", title="step"), alt.Tooltip("shown:N", title="worth")],
    )
    zero = alt.Chart(alt.InlineData([{"zero": 0}])).mark_rule(color=BLUE, opacity=0.5).encode(x="zero:Q")
    numbers = base.mark_text(align="left", dx=6, fontSize=12).encode(x="edge:Q", y=y, text="shown:N")
    chart = alt.layer(zero, bars, numbers).add_params(alt.param(name="names", value=[])).properties(width="container")
    return finish_frame(chart)
