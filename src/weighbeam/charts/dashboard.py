"""Charts that a browser draws: each a Vega-Lite specification made once, and filled with data for every page."""

import copy
import math
from collections.abc import Sequence
from functools import cache
from statistics import median_low
from typing import Any

Rows = Sequence[dict[str, Any]]
DATA = "rows"
HEIGHT = 240
ROW = 18
ROOM = 0.05
"""Of an axis, beyond the values at its ends."""
FAR = 1e6
WIDEST_BAR = 60
HOURS: dict[str, Any] = {"format": "%H:%M", "labelOverlap": "greedy", "labelFlush": False, "labelSeparation": 6}
"""The axis of a day, on which no two labels touch."""
COLOURS = ["#3d7be0", "#e0861a", "#2a9d6f", "#b0559e", "#8a8f98", "#c9a227", "#5b6ee1", "#d0574e", "#3aa6b9", "#7d9b3c"]


def chart_hours(rows: Rows) -> dict[str, Any]:
    """Rounds by the hour: rows of `at` (milliseconds), `mechanism`, `rounds`."""
    return _fill(_hours(), rows)


def chart_standings(rows: Rows, lower_is_better: bool) -> dict[str, Any]:
    """Standings with what they may be off by: rows of `miner`, `standing`, `low`, `high`, `place`; better to the right.

    The axis ends where the values end, and goes below zero only where a standing does.
    """
    least = find_least([float(row["standing"]) for row in rows])
    clipped = [{**row, "low": max(least, row["low"])} for row in rows]
    spec = {**_fill(_standings(lower_is_better), clipped), "height": ROW * len(rows)}
    ends = [float(row[name]) for row in clipped for name in ("standing", "low", "high")]
    for layer in spec["layer"]:
        layer["encoding"]["x"]["scale"]["domain"] = find_domain(ends, least)
    return spec


def chart_course(rows: Rows, value: str, standing: str, lower_is_better: bool = False) -> dict[str, Any]:
    """One miner over time: rows of `at`, `value`, `standing`, `status`, `round`; better standings are higher up.

    A miner that never stood anywhere has no line of standings.
    """
    spec = _fill(_course(), rows)
    for part, name, field in zip(spec["vconcat"], (value, standing), ("value", "standing"), strict=True):
        values = [float(row[field]) for row in rows if row[field] is not None]
        scale = {"domain": find_domain(values, find_least(values)), "nice": False, "zero": False, "clamp": True}
        part["encoding"]["y"] |= {"title": name, "scale": scale}
    if lower_is_better:
        spec["vconcat"][1]["encoding"]["y"]["scale"]["reverse"] = True
    known = [any(row[field] is not None for row in rows) for field in ("value", "standing")]
    spec["vconcat"] = [part for part, some in zip(spec["vconcat"], known, strict=True) if some] or spec["vconcat"][:1]
    return spec


def find_least(values: Sequence[float]) -> float:
    """Where no value is negative, no axis is: a rank or an average of payments.

    >>> find_least([0.0, 2.0]), find_least([-1.0])
    (0.0, -inf)
    """
    return 0.0 if all(value >= 0 for value in values) else -math.inf


def find_domain(values: Sequence[float], least: float = -math.inf) -> list[float]:
    """From the least to the greatest value and a little beyond, but not below `least`.

    What is beyond a million times the median would leave nothing to see of the others, and is drawn at the edge.

    >>> find_domain([1.0, 3.0]), find_domain([0.0, 2.0], 0.0), find_domain([5.0]), find_domain([])
    ([0.9, 3.1], [0.0, 2.1], [4.5, 5.5], [0.0, 1.0])
    >>> find_domain([0.5, 0.7, 0.6, -1.29e87]), find_domain([500.0, 0.0, 0.0], 0.0)
    ([0.49, 0.71], [0.0, 525.0])
    """
    sizes = [abs(value) for value in values if value]
    middle = median_low(sizes) if sizes else 0.0
    usual = [value for value in values if abs(value) <= FAR * middle] or list(values)
    if not usual:
        return [0.0, 1.0]
    low, high = min(usual), max(usual)
    room = (high - low) * ROOM if high > low else abs(high) * 0.1 or 0.5
    return [float(f"{max(low - room, least):.6g}"), float(f"{high + room:.6g}")]


def chart_shares(rows: Rows) -> dict[str, Any]:
    """Chart shares of the weights over time: rows of `at`, `miner`, `share`, `order`."""
    return _fill(_shares(), rows)


def chart_concentration(rows: Rows) -> dict[str, Any]:
    """How few share the weights: rows of `at`, `measure`, `value`."""
    return _fill(_concentration(), rows)


def chart_payouts(rows: Rows) -> dict[str, Any]:
    """Tokens by hour and what became of them: rows of `at`, `status`, `tokens`, `count`."""
    return _fill(_payouts(), rows)


def _fill(made: dict[str, Any], rows: Rows) -> dict[str, Any]:
    return {**copy.deepcopy(made), "datasets": {DATA: list(rows)}}


def _finish(chart: Any) -> dict[str, Any]:
    spec: dict[str, Any] = chart.to_dict()
    spec.pop("config", None)
    return {**spec, "autosize": {"type": "fit-x", "contains": "padding"}}


@cache
def _hours() -> dict[str, Any]:
    import altair as alt

    chart = alt.Chart(alt.NamedData(DATA), width="container", height=HEIGHT).mark_bar()
    return _finish(
        chart.encode(
            x=alt.X("at:T", timeUnit="yearmonthdatehours", title=None, axis=alt.Axis(**HOURS)),
            y=alt.Y("sum(rounds):Q", title="rounds", axis=alt.Axis(tickMinStep=1)),
            color=alt.Color("mechanism:N", title=None, scale=alt.Scale(range=COLOURS), legend=alt.Legend(orient="top")),
            tooltip=["mechanism:N", alt.Tooltip("sum(rounds):Q", title="rounds")],
        )
    )


@cache
def _standings(lower_is_better: bool) -> dict[str, Any]:
    import altair as alt

    base = alt.Chart(alt.NamedData(DATA), width="container")
    y = alt.Y("miner:N", sort=alt.EncodingSortField("place", order="ascending"), title=None)
    x = alt.X(
        "standing:Q",
        title="standing",
        scale=alt.Scale(zero=False, nice=False, clamp=True, reverse=lower_is_better),
        axis=alt.Axis(tickCount=8, format=".3~g"),
    )
    told = [alt.Tooltip(f"{name}:Q", format=".4g") for name in ("standing", "low", "high")]
    rules = base.mark_rule(strokeWidth=2, color=COLOURS[0], opacity=0.55).encode(
        x=alt.X(
            "low:Q", title="standing", scale=alt.Scale(zero=False, nice=False, clamp=True, reverse=lower_is_better)
        ),
        x2="high:Q",
        y=y,
    )
    points = base.mark_point(filled=True, size=55, color=COLOURS[0], opacity=1).encode(
        x=x, y=y, tooltip=["miner:N", *told]
    )
    return _finish(alt.layer(rules, points))


@cache
def _course() -> dict[str, Any]:
    import altair as alt

    x = alt.X(
        "at:T",
        title=None,
        scale=alt.Scale(type="time", nice=False),
        axis=alt.Axis(format="%d %b %H:%M", labelOverlap=True),
    )
    moment = alt.Tooltip("at:T", title="at", format="%d %b %Y %H:%M:%S")
    colours = alt.Scale(domain=["valid", "failed", "unscored"], range=[COLOURS[2], COLOURS[7], COLOURS[4]])
    points = (
        alt.Chart(alt.NamedData(DATA), width="container", height=150)
        .mark_point(filled=True, size=36, opacity=0.9)
        .encode(
            x=x,
            y=alt.Y("value:Q", axis=alt.Axis(format=".3~g")),
            color=alt.Color("status:N", title=None, scale=colours, legend=alt.Legend(orient="top")),
            tooltip=["round:N", moment, "status:N", alt.Tooltip("value:Q", title="score", format=".5g")],
        )
    )
    line = (
        alt.Chart(alt.NamedData(DATA), width="container", height=150)
        .mark_line(color=COLOURS[0], point={"size": 16, "color": COLOURS[0]})
        .encode(
            x=x,
            y=alt.Y("standing:Q", scale=alt.Scale(zero=False)),
            tooltip=["round:N", moment, alt.Tooltip("standing:Q", format=".5g")],
        )
    )
    return _finish(alt.vconcat(points, line, spacing=8))


@cache
def _shares() -> dict[str, Any]:
    import altair as alt

    wide = {"expr": f"min({WIDEST_BAR}, 0.9 * bandwidth('x'))"}
    chart = alt.Chart(alt.NamedData(DATA), width="container", height=HEIGHT).mark_bar(width=wide)
    return _finish(
        chart.encode(
            x=alt.X("weights:O", title="weights set, oldest first", axis=alt.Axis(labelOverlap=True, labelAngle=0)),
            y=alt.Y("share:Q", title="share", stack="normalize", axis=alt.Axis(format="%")),
            color=alt.Color(
                "miner:N",
                title=None,
                sort=alt.EncodingSortField("order"),
                scale=alt.Scale(range=COLOURS),
                legend=alt.Legend(orient="right", symbolLimit=11, labelLimit=120),
            ),
            order="order:Q",
            tooltip=["miner:N", alt.Tooltip("share:Q", format=".2%"), "when:N"],
        )
    )


@cache
def _concentration() -> dict[str, Any]:
    import altair as alt

    chart = alt.Chart(alt.NamedData(DATA), width="container", height=HEIGHT).mark_line(point=True)
    return _finish(
        chart.encode(
            x=alt.X("weights:O", title="weights set, oldest first", axis=alt.Axis(labelOverlap=True, labelAngle=0)),
            y=alt.Y("value:Q", title=None, scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("measure:N", title=None, scale=alt.Scale(range=COLOURS), legend=alt.Legend(orient="top")),
            tooltip=["measure:N", alt.Tooltip("value:Q", format=".3f"), "when:N"],
        )
    )


@cache
def _payouts() -> dict[str, Any]:
    import altair as alt

    colours = alt.Scale(domain=["paid", "held", "nothing paid"], range=[COLOURS[2], COLOURS[1], COLOURS[4]])
    chart = alt.Chart(alt.NamedData(DATA), width="container", height=HEIGHT).mark_bar()
    return _finish(
        chart.encode(
            x=alt.X("at:T", timeUnit="yearmonthdatehours", title=None, axis=alt.Axis(**HOURS)),
            y=alt.Y("sum(count):Q", title="contributions", axis=alt.Axis(tickMinStep=1)),
            color=alt.Color("status:N", title=None, scale=colours, legend=alt.Legend(orient="top")),
            tooltip=[
                "status:N",
                alt.Tooltip("sum(count):Q", title="contributions"),
                alt.Tooltip("sum(tokens):Q", title="tokens"),
            ],
        )
    )
