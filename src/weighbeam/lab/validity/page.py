"""Results of the bench as one self-contained HTML page."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from weighbeam.lab.report.charts import FOUND, QUIET, finish
from weighbeam.lab.report.page import draw, open_page
from weighbeam.lab.simulate.measure import estimate_share
from weighbeam.lab.validity.measures import CalibrationBin, Finding
from weighbeam.lab.validity.run import ValidityResult


def render_validity(result: ValidityResult) -> str:
    """Names of sets and files are somebody else's: the template escapes them."""
    drawn = {one.kind: draw(partial(chart_calibration, one.calibration)) for one in result.kinds if one.calibration}
    return (
        open_page()
        .get_template("validity.html")
        .render(
            result=result,
            charts=drawn,
            command=format_command(result),
            title=name_figure,
            figure=format_value,
            interval=format_range,
        )
    )


def chart_calibration(bins: Sequence[CalibrationBin], width: int) -> dict[str, Any]:
    """Accuracy over confidence with Wilson's intervals, larger dots for more cases; on the dashed line both agree."""
    import altair as alt

    rows = [{**asdict(one), **asdict(estimate_share(one.right, one.cases))} for one in bins]
    scale, base = alt.Scale(domain=[0, 1]), alt.Chart(alt.InlineData(rows))
    x = alt.X("confidence:Q", scale=scale, axis=alt.Axis(title="confidence", format="%", tickCount=5))
    y = alt.Y("right:Q", scale=scale, axis=alt.Axis(title="right", format="%", tickCount=5))
    size = alt.Size("cases:Q", scale=alt.Scale(range=[30, 300]), legend=None)
    ends = alt.InlineData([{"confidence": end, "right": end} for end in (0, 1)])
    even = alt.Chart(ends).mark_line(color=QUIET, strokeDash=[4, 3], strokeWidth=1).encode(x=x, y=y)
    line = base.mark_line(color=FOUND, opacity=0.5).encode(x=x, y=y)
    rule = base.mark_rule(color=FOUND, opacity=0.45, strokeWidth=3).encode(x=x, y="low:Q", y2="high:Q")
    dots = base.mark_point(filled=True, color=FOUND, opacity=0.9).encode(x=x, y=y, size=size)
    return finish(alt.layer(even, line, rule, dots), width, 260)


def format_command(result: ValidityResult) -> str:
    """The command that finds the same figures again."""
    choice, words = result.choice, ["weighbeam", "lab", "validity", result.mechanism]
    words += [] if result.data.is_sample else [file.name for file in result.data.files]
    words += [word for name in choice.only for word in ("--only", name)]
    words += ["--limit", str(choice.limit)] if choice.limit is not None else []
    words += ["--format", choice.format] if choice.format is not None else []
    for name, value in result.params.items():
        words += ["--set", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    return shlex.join([*words, "--seed", str(result.seed)])


def name_figure(name: str) -> str:
    """
    >>> name_figure("macro_f1"), name_figure("pay_auc"), name_figure("best_is_right")
    ('macro F1', 'pay AUC', 'best is right')
    """
    words = {"f1": "F1", "auc": "AUC"}
    return " ".join(words.get(word, word) for word in name.split("_"))


def format_value(finding: Finding) -> str:
    """
    >>> format_value(Finding(0.606, 0.5, 0.7, 40)), format_value(Finding(2.5, 2.0, 3.0, 40, is_share=False))
    ('60.6 %', '2.50')
    """
    return f"{100 * finding.value:.1f} %" if finding.is_share else f"{finding.value:.2f}"


def format_range(finding: Finding) -> str:
    """
    >>> format_range(Finding(0.606, 0.5, 0.7, 40))
    '50.0–70.0'
    """
    if finding.is_share:
        return f"{100 * finding.low:.1f}–{100 * finding.high:.1f}"
    return f"{finding.low:.2f}–{finding.high:.2f}"
