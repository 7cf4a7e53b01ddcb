"""The report's charts as Vega-Lite specifications that hold their data.

Ink and lines have colours that the page's style sheet finds and replaces in the dark; see `page.css`.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from weighbeam.charts.text import tame_text
from weighbeam.lab.simulate.measure import AttackOutcome
from weighbeam.lab.trials.sweep import SweepPoint
from weighbeam.lab.validators.fairness import Fairness

if TYPE_CHECKING:
    import altair as alt

INK, QUIET, LINE = "#1b2430", "#586271", "#dfe3e9"
VERDICTS = {"closed": "#2a9d6f", "loses": "#3d7be0", "unclear": "#c9a227", "pays": "#d0574e"}
FOUND, ACCUSED, PLAIN = "#3d7be0", "#e0861a", "#8a8f98"
ROW = 24
LONGEST = 32
LETTER = 7.2


def chart_profits(outcomes: Mapping[str, AttackOutcome], width: int) -> dict[str, Any]:
    """Profit per identity, most profitable first; the dashed line is what honest work earns."""
    import altair as alt

    ranked = sorted(outcomes.items(), key=lambda item: (-item[1].profit.value, item[0]))
    values = choose_ticks(max(min(one.profit.high, 2 + 2 * one.profit.value) for one in outcomes.values()))
    rows = [
        {
            "attack": _label(name),
            "value": one.profit.value,
            "low": one.profit.low,
            "high": min(one.profit.high, values[-1]),
            "is": one.verdict,
        }
        for name, one in ranked
    ]
    scale = alt.Scale(type="symlog", constant=1, domain=[0, values[-1]], nice=False)
    axis = alt.Axis(title="profit, 1 is honest work", values=values, format="~f")
    x, y = alt.X("low:Q", scale=scale, axis=axis), _rows(rows, width)
    colour = alt.Color("is:N", scale=alt.Scale(domain=list(VERDICTS), range=list(VERDICTS.values())), legend=None)
    base = alt.Chart(alt.InlineData(rows))
    one = alt.Chart(alt.InlineData([{"x": 1}])).mark_rule(color=QUIET, strokeDash=[4, 3]).encode(x="x:Q")
    rule = base.mark_rule(strokeWidth=3, opacity=0.5).encode(x=x, x2="high:Q", y=y, color=colour)
    point = base.mark_point(filled=True, size=70, opacity=1).encode(x="value:Q", y=y, color=colour)
    return finish(alt.layer(one, rule, point), width, ROW * len(rows))


def chart_detection(outcomes: Mapping[str, AttackOutcome], width: int) -> dict[str, Any]:
    """How many attackers are found out, and how many honest miners look like them; in the order of profits."""
    import altair as alt

    ranked = sorted(outcomes.items(), key=lambda item: (-item[1].profit.value, item[0]))
    rows = [
        {"attack": _label(name), "who": who, "value": share.value, "low": share.low, "high": share.high}
        for name, outcome in ranked
        for who, share in (("attackers", outcome.detection), ("honest miners", outcome.false_positives))
    ]
    x = alt.X(
        "low:Q",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(title="found out within 20 turns", format="%", values=[0, 0.5, 1]),
    )
    y = _rows(rows, width)
    shift = alt.YOffset("who:N", scale=alt.Scale(domain=["attackers", "honest miners"], paddingOuter=0.5))
    colour = alt.Color(
        "who:N",
        title=None,
        scale=alt.Scale(domain=["attackers", "honest miners"], range=[FOUND, ACCUSED]),
        legend=alt.Legend(orient="bottom"),
    )
    base = alt.Chart(alt.InlineData(rows))
    rule = base.mark_rule(strokeWidth=3, opacity=0.45).encode(x=x, x2="high:Q", y=y, yOffset=shift, color=colour)
    point = base.mark_point(filled=True, size=55, opacity=1).encode(x="value:Q", y=y, yOffset=shift, color=colour)
    return finish(alt.layer(rule, point), width, ROW * len(outcomes))


def chart_front(points: Sequence[SweepPoint], width: int) -> dict[str, Any]:
    """Accuracy of ranks over the worst attack's profit: up and to the left is better."""
    import altair as alt

    order = ("beaten", "not beaten", "default")
    drawn = sorted(points, key=lambda point: order.index(_name_point(point)))
    rows = [{"x": point.worst.value, "y": point.tau.value, "is": _name_point(point)} for point in drawn]
    front = sorted({(point.worst.value, point.tau.value) for point in points if point.best})
    x = _axis("x:Q", [point.worst.value for point in points], "profit of the worst attack")
    y = _axis("y:Q", [point.tau.value for point in points], "tau of honest seasons", alt.Y)
    colours = alt.Scale(domain=order[::-1], range=[ACCUSED, FOUND, PLAIN])
    colour = alt.Color("is:N", title=None, scale=colours, legend=alt.Legend(orient="top"))
    line = alt.Chart(alt.InlineData([{"x": a, "y": b} for a, b in front])).mark_line(color=FOUND, opacity=0.5)
    dots = alt.Chart(alt.InlineData(rows)).mark_point(filled=True, size=80, opacity=0.9).encode(x=x, y=y, color=colour)
    return finish(alt.layer(line.encode(x=x, y=y), dots), width, 260)


def stretch(values: Sequence[float], least: float = 0.1) -> list[float]:
    """The ends of an axis: a tenth wider than the values, and wide enough where they agree.

    >>> [round(end, 3) for end in stretch([0.5, 0.5])], [round(end, 3) for end in stretch([0.0, 1.0])]
    ([0.45, 0.55], [-0.1, 1.1])
    """
    middle, half = (min(values) + max(values)) / 2, max((max(values) - min(values)) * 0.6, least / 2)
    return [middle - half, middle + half]


def _axis(field: str, values: Sequence[float], title: str, kind: Any = None) -> Any:
    import altair as alt

    scale = alt.Scale(domain=stretch(values), nice=False)
    return (kind or alt.X)(field, scale=scale, axis=alt.Axis(title=title, format=".2f", tickCount=5))


def choose_ticks(limit: float) -> list[float]:
    """
    >>> choose_ticks(1.2), choose_ticks(2.6), choose_ticks(40.0)
    ([0, 0.25, 0.5, 1, 1.5], [0, 0.5, 1, 2, 3], [0, 1, 2, 5.0, 10.0, 20.0, 50.0])
    """
    if limit <= 3:
        return [0, 0.25, 0.5, 1, 1.5] if limit <= 1.5 else [0, 0.5, 1, 2, 3]
    ticks: list[float] = [0, 1]
    while ticks[-1] < limit:
        ticks.append(ticks[-1] * (2.5 if str(ticks[-1]).startswith("2") else 2))
    return ticks


def _name_point(point: SweepPoint) -> str:
    return "default" if point.default else "not beaten" if point.best else "beaten"


def _label(name: str) -> str:
    return tame_text(name.rpartition("/")[2], LONGEST)


def _rows(rows: Sequence[Mapping[str, Any]], width: int) -> "alt.Y":
    import altair as alt

    order = list(dict.fromkeys(row["attack"] for row in rows))
    room = round(min(0.45 * width, LETTER * max(map(len, order)) + 10))
    axis = alt.Axis(
        ticks=False, domain=False, labelPadding=8, labelLimit=round(0.85 * room), minExtent=room, maxExtent=room
    )
    return alt.Y("attack:N", sort=order, title=None, axis=axis)


def finish(chart: Any, width: int, height: int) -> dict[str, Any]:
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


LINES = ("tau to skill", "Gini of pay", "share of the top ten")


def chart_days(days: Sequence[Fairness], width: int) -> dict[str, Any]:
    """How well pay follows skill, and how few have it."""
    import altair as alt

    rows = [
        {"day": number, "what": name, "value": value}
        for number, day in enumerate(days, 1)
        for name, value in zip(LINES, (day.tau, day.gini, day.top), strict=True)
        if value is not None
    ]
    scale = alt.Scale(domain=LINES, range=[FOUND, ACCUSED, PLAIN])
    chart = alt.Chart(alt.InlineData(rows)).mark_line(strokeWidth=1.5)
    return finish(
        chart.encode(
            x=alt.X("day:Q", axis=alt.Axis(title="day", tickCount=6, format="d")),
            y=alt.Y("value:Q", axis=alt.Axis(title=None, tickCount=5, format=".1f"), scale=alt.Scale(domainMax=1)),
            color=alt.Color("what:N", title=None, scale=scale, legend=alt.Legend(orient="top", columns=2)),
        ),
        width,
        220,
    )
