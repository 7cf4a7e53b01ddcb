"""Charts that a browser draws: each a Vega-Lite specification made once, and filled with data for every page."""

import copy
from collections.abc import Sequence
from functools import cache
from typing import Any

Rows = Sequence[dict[str, Any]]
DATA = "rows"
HEIGHT = 240
ROW = 18
COLOURS = ["#3d7be0", "#e0861a", "#2a9d6f", "#b0559e", "#8a8f98", "#c9a227", "#5b6ee1", "#d0574e", "#3aa6b9", "#7d9b3c"]


def chart_hours(rows: Rows) -> dict[str, Any]:
    """Rounds by the hour: rows of `at` (milliseconds), `mechanism`, `rounds`."""
    return _fill(_hours(), rows)


def chart_standings(rows: Rows, lower_is_better: bool) -> dict[str, Any]:
    """Standings with what they may be off by: rows of `miner`, `standing`, `low`, `high`, `place`."""
    return {**_fill(_standings(lower_is_better), rows), "height": ROW * len(rows)}


def chart_course(rows: Rows, value: str, standing: str) -> dict[str, Any]:
    """One miner over time: rows of `at`, `value`, `standing`, `status`, `round`."""
    spec = _fill(_course(), rows)
    for part, name in zip(spec["vconcat"], (value, standing), strict=True):
        part["encoding"]["y"]["title"] = name
    return spec


def chart_shares(rows: Rows) -> dict[str, Any]:
    """Who had which share of the weights: rows of `at`, `miner`, `share`, `order`."""
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
            x=alt.X(
                "at:T", timeUnit="utcyearmonthdatehours", title=None, axis=alt.Axis(format="%H:%M", labelOverlap=True)
            ),
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
        scale=alt.Scale(zero=False, reverse=lower_is_better),
        axis=alt.Axis(tickCount=8),
    )
    told = [alt.Tooltip(f"{name}:Q", format=".4g") for name in ("standing", "low", "high")]
    rules = base.mark_rule(strokeWidth=2, color=COLOURS[0], opacity=0.55).encode(
        x=alt.X("low:Q", title="standing"), x2="high:Q", y=y
    )
    points = base.mark_point(filled=True, size=55, color=COLOURS[0], opacity=1).encode(
        x=x, y=y, tooltip=["miner:N", *told]
    )
    return _finish(alt.layer(rules, points))


@cache
def _course() -> dict[str, Any]:
    import altair as alt

    x = alt.X("at:T", title=None, scale=alt.Scale(type="utc"), axis=alt.Axis(format="%d %b %H:%M", labelOverlap=True))
    colours = alt.Scale(domain=["valid", "failed", "unscored"], range=[COLOURS[2], COLOURS[7], COLOURS[4]])
    points = (
        alt.Chart(alt.NamedData(DATA), width="container", height=150)
        .mark_point(filled=True, size=36, opacity=0.9)
        .encode(
            x=x,
            y=alt.Y("value:Q", axis=alt.Axis(format=".3~g")),
            color=alt.Color("status:N", title=None, scale=colours, legend=alt.Legend(orient="top")),
            tooltip=["round:N", "status:N", alt.Tooltip("value:Q", format=".5g")],
        )
    )
    line = (
        alt.Chart(alt.NamedData(DATA), width="container", height=150)
        .mark_line(color=COLOURS[0], point={"size": 16, "color": COLOURS[0]})
        .encode(
            x=x,
            y=alt.Y("standing:Q", scale=alt.Scale(zero=False)),
            tooltip=["round:N", alt.Tooltip("standing:Q", format=".5g")],
        )
    )
    return _finish(alt.vconcat(points, line, spacing=8))


@cache
def _shares() -> dict[str, Any]:
    import altair as alt

    chart = alt.Chart(alt.NamedData(DATA), width="container", height=HEIGHT).mark_bar()
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
            x=alt.X(
                "at:T", timeUnit="utcyearmonthdatehours", title=None, axis=alt.Axis(format="%H:%M", labelOverlap=True)
            ),
            y=alt.Y("sum(count):Q", title="contributions", axis=alt.Axis(tickMinStep=1)),
            color=alt.Color("status:N", title=None, scale=colours, legend=alt.Legend(orient="top")),
            tooltip=[
                "status:N",
                alt.Tooltip("sum(count):Q", title="contributions"),
                alt.Tooltip("sum(tokens):Q", title="tokens"),
            ],
        )
    )
