"""The report's charts, as Vega-Lite specifications that hold their data.

Ink and lines have colours that the page's style sheet finds and replaces in the dark; see `page.css`.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from weighbeam.lab.measure import Outcome
from weighbeam.lab.sweep import Point
from weighbeam.pictures.text import tame_text

if TYPE_CHECKING:
    import altair as alt

INK, QUIET, LINE = "#1b2430", "#586271", "#dfe3e9"
VERDICTS = {"closed": "#2a9d6f", "loses": "#3d7be0", "unclear": "#c9a227", "pays": "#d0574e"}
FOUND, ACCUSED, PLAIN = "#3d7be0", "#e0861a", "#8a8f98"
ROW = 24
LONGEST = 28


def chart_profits(outcomes: Mapping[str, Outcome], width: int) -> dict[str, Any]:
    """Profit per identity, most profitable first; the dashed line is what honest work earns."""
    import altair as alt

    ranked = sorted(outcomes.items(), key=lambda item: (-item[1].profit.value, item[0]))
    rows = [
        {"attack": _label(name), "value": o.profit.value, "low": o.profit.low, "high": o.profit.high, "is": o.verdict}
        for name, o in ranked
    ]
    values = choose_ticks(max(outcome.profit.high for outcome in outcomes.values()))
    scale = alt.Scale(type="symlog", constant=1, domain=[0, values[-1]], nice=False)
    axis = alt.Axis(title="pay per identity, 1 is honest work", values=values, format="~g")
    x, y = alt.X("low:Q", scale=scale, axis=axis), _rows(rows)
    colour = alt.Color("is:N", scale=alt.Scale(domain=list(VERDICTS), range=list(VERDICTS.values())), legend=None)
    base = alt.Chart(alt.InlineData(rows))
    one = alt.Chart(alt.InlineData([{"x": 1}])).mark_rule(color=QUIET, strokeDash=[4, 3]).encode(x="x:Q")
    rule = base.mark_rule(strokeWidth=3, opacity=0.5).encode(x=x, x2="high:Q", y=y, color=colour)
    point = base.mark_point(filled=True, size=70, opacity=1).encode(x="value:Q", y=y, color=colour)
    return _finish(alt.layer(one, rule, point), width, ROW * len(rows))


def chart_detection(outcomes: Mapping[str, Outcome], width: int) -> dict[str, Any]:
    """How many attackers are found out, and how many honest miners look like them; in the order of profits."""
    import altair as alt

    ranked = sorted(outcomes.items(), key=lambda item: (-item[1].profit.value, item[0]))
    rows = [
        {"attack": _label(name), "who": who, "value": share.value, "low": share.low, "high": share.high}
        for name, outcome in ranked
        for who, share in (("attackers", outcome.detection), ("honest miners", outcome.false_positives))
    ]
    x = alt.X("low:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(title="found out within 20 turns", format="%"))
    y = _rows(rows)
    shift = alt.YOffset("who:N", scale=alt.Scale(domain=["attackers", "honest miners"], paddingOuter=0.5))
    colour = alt.Color(
        "who:N",
        title=None,
        scale=alt.Scale(domain=["attackers", "honest miners"], range=[FOUND, ACCUSED]),
        legend=alt.Legend(orient="top"),
    )
    base = alt.Chart(alt.InlineData(rows))
    rule = base.mark_rule(strokeWidth=3, opacity=0.45).encode(x=x, x2="high:Q", y=y, yOffset=shift, color=colour)
    point = base.mark_point(filled=True, size=55, opacity=1).encode(x="value:Q", y=y, yOffset=shift, color=colour)
    return _finish(alt.layer(rule, point), width, ROW * len(outcomes))


def chart_front(points: Sequence[Point], width: int) -> dict[str, Any]:
    """Accuracy of ranks over the worst attack's profit: up and to the left is better."""
    import altair as alt

    rows = [
        {"x": point.worst.value, "y": point.tau.value, "is": "default" if point.default else _say_best(point.best)}
        for point in points
    ]
    front = sorted((row["x"], row["y"]) for row, point in zip(rows, points, strict=True) if point.best)
    x = alt.X("x:Q", scale=alt.Scale(zero=False, padding=12), axis=alt.Axis(title="profit of the worst attack"))
    y = alt.Y("y:Q", scale=alt.Scale(zero=False, padding=12), axis=alt.Axis(title="tau of honest seasons"))
    colours = alt.Scale(domain=["default", "not beaten", "beaten"], range=[ACCUSED, FOUND, PLAIN])
    colour = alt.Color("is:N", title=None, scale=colours, legend=alt.Legend(orient="top"))
    line = alt.Chart(alt.InlineData([{"x": a, "y": b} for a, b in front])).mark_line(color=FOUND, opacity=0.5)
    dots = alt.Chart(alt.InlineData(rows)).mark_point(filled=True, size=80, opacity=0.9).encode(x=x, y=y, color=colour)
    return _finish(alt.layer(line.encode(x=x, y=y), dots), width, 260)


def choose_ticks(most: float) -> list[float]:
    """
    >>> choose_ticks(1.2), choose_ticks(2.6), choose_ticks(40.0)
    ([0, 0.25, 0.5, 1, 1.5], [0, 0.5, 1, 2, 3], [0, 1, 2, 5.0, 10.0, 20.0, 50.0])
    """
    if most <= 3:
        return [0, 0.25, 0.5, 1, 1.5] if most <= 1.5 else [0, 0.5, 1, 2, 3]
    ticks: list[float] = [0, 1]
    while ticks[-1] < most:
        ticks.append(ticks[-1] * (2.5 if str(ticks[-1]).startswith("2") else 2))
    return ticks


def _say_best(best: bool) -> str:
    return "not beaten" if best else "beaten"


def _label(name: str) -> str:
    return tame_text(name.rpartition("/")[2], LONGEST)


def _rows(rows: Sequence[Mapping[str, Any]]) -> "alt.Y":
    import altair as alt

    order = list(dict.fromkeys(row["attack"] for row in rows))
    return alt.Y("attack:N", sort=order, title=None, axis=alt.Axis(labelLimit=180, ticks=False, domain=False))


def _finish(chart: Any, width: int, height: int) -> dict[str, Any]:
    """`width` is of everything, labels included."""
    spec: dict[str, Any] = (
        chart.properties(width=width, height=height, autosize={"type": "fit-x", "contains": "padding"}, padding=2)
        .configure(font="sans-serif", background="transparent")
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=QUIET, titleColor=QUIET, gridColor=LINE, domainColor=LINE, tickColor=LINE,
            titleFontWeight="normal", labelFontSize=12, titleFontSize=12,
        )
        .configure_legend(labelColor=INK, titleColor=QUIET, labelFontSize=12, symbolOpacity=1)
        .to_dict()
    )  # fmt: skip
    return spec
