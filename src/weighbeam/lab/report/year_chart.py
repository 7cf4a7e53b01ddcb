"""A simulated year, day by day."""

from collections.abc import Sequence
from typing import Any

from weighbeam.lab.fairness import Fairness
from weighbeam.lab.report.charts import ACCUSED, FOUND, PLAIN, finish

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
