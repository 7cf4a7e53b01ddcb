"""A chart with its words and its numbers, so that a page can show it to everybody, in any colours and at any width.

The specification names no colour of text, axes or background: those come from where it is shown. Inside a chart of
charts one above the other, `usermeta` says how wide it may become and which part is as high as it is wide.
"""

import copy
import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from weighbeam.charts.text import tame_text

Cell: TypeAlias = str | int | float | None
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
INK, QUIET, LINE = "#1b2430", "#586271", "#dfe3e9"
"""Colours that the style sheet of a page finds in a drawn chart and replaces in the dark."""
BLUE, ORANGE, GREEN, GREY, RED = "#3d7be0", "#e0861a", "#2a9d6f", "#8a8f98", "#d0574e"
"""Colours that contrast with white and with black paper."""
WIDE, NARROW = 560, 330
MARGIN = 84
"""Left of stacked charts, for their labels."""
LEAST_INNER = 160
MAX_LINE = 120


@dataclass(frozen=True, slots=True, repr=False)
class ChartPicture:
    """A Vega-Lite specification that holds its data, and the same numbers as a table."""

    name: str
    title: str
    about: str
    spec: Mapping[str, Any]
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __repr__(self) -> str:
        return f"<ChartPicture {self.name}: {self.title}>"

    def _repr_png_(self) -> bytes:
        """The picture in a notebook."""
        from weighbeam.charts.render import render_png

        return render_png(frame_picture(self))


def frame_picture(picture: ChartPicture, width: int = WIDE) -> dict[str, Any]:
    """The specification of a picture that stands alone: on white paper, under its title."""
    spec = dress_spec(picture.spec, width)
    title = {
        "text": tame_text(picture.title, MAX_LINE),
        "subtitle": [tame_text(line, MAX_LINE) for line in wrap_words(picture.about, width)],
        "anchor": "start",
        "frame": "bounds",
        "fontSize": 15,
        "subtitleFontSize": 12,
        "subtitlePadding": 5,
        "offset": 12,
    }
    config = {**spec["config"], "background": "#ffffff"}
    return {**spec, "title": title, "padding": 14, "config": config}


def dress_spec(spec: Mapping[str, Any], width: int) -> dict[str, Any]:
    """The specification `width` pixels wide in all, on no paper, in colours that a style sheet can replace."""
    axis = {
        "labelColor": QUIET, "titleColor": QUIET, "gridColor": LINE, "domainColor": LINE, "tickColor": LINE,
        "titleFontWeight": "normal", "labelFontSize": 11, "titleFontSize": 12,
    }  # fmt: skip
    config = {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "axis": axis,
        "legend": {"labelColor": INK, "titleColor": QUIET, "titleFontWeight": "normal", "labelFontSize": 12},
        "title": {"color": INK, "subtitleColor": QUIET},
        "text": {"color": INK},
    }
    return {**fit_width(spec, width), "padding": 2, "config": config}


def fit_width(spec: Mapping[str, Any], width: int) -> dict[str, Any]:
    """As `charts.js` does on a page: charts one above the other cannot ask for the width of their place.

    >>> fitted = fit_width({"vconcat": [{"height": 9}, {"height": 9}], "usermeta": {"widest": 300, "square": 0}}, 560)
    >>> fitted["vconcat"]
    [{'height': 300, 'width': 300}, {'height': 9, 'width': 300}]
    """
    fitted = copy.deepcopy(dict(spec))
    if "vconcat" not in fitted:
        return {**fitted, "width": width}
    wishes = fitted.get("usermeta", {})
    inner = max(LEAST_INNER, min(width - MARGIN, wishes.get("widest", width)))
    for number, part in enumerate(fitted["vconcat"]):
        part["width"] = inner
        if number == wishes.get("square"):
            part["height"] = inner
    return fitted


def wrap_words(text: str, width: int) -> list[str]:
    """Lines that fit under a title.

    >>> wrap_words("one two three four", 60)
    ['one two', 'three four']
    """
    return textwrap.wrap(text, max(10, width // 6))


def shorten_number(value: float | None, digits: int = 4) -> str:
    """A number short enough for a chart, whatever its size.

    >>> [shorten_number(value) for value in (0.12345, -0.00004, -1.229e63, 0.0, None)]
    ['0.1235', '−4e-05', '−1.2e+63', '0', '–']
    """
    if value is None:
        return "–"
    if value == 0:
        return "0"
    size = abs(value)
    shown = f"{size:.{digits}f}" if 10.0**-digits <= size < 1000 else f"{size:.2g}"
    return f"−{shown}" if value < 0 else shown


def sign_number(value: float) -> str:
    """
    >>> sign_number(0.5), sign_number(-0.5), sign_number(0.0)
    ('+0.5000', '−0.5000', '0')
    """
    return f"+{shorten_number(value)}" if value > 0 else shorten_number(value)


def choose_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers between the ends.

    >>> choose_ticks(0.0, 0.45), choose_ticks(-0.1, 0.3)
    ([0.0, 0.1, 0.2, 0.3, 0.4], [-0.1, 0.0, 0.1, 0.2, 0.3])
    """
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * size for size in (1, 2, 5, 10) if power * size >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 12) + 0.0 for number in range(first, last + 1)]


def fill_params(spec: dict[str, Any], **values: Any) -> None:
    """Puts values in place that expressions of the chart look up by name."""
    for param in spec["params"]:
        if param["name"] in values:
            param["value"] = values[param["name"]]


def finish_frame(chart: Any) -> dict[str, Any]:
    """The specification of a chart made with Altair, without colours of its own; it fills the width of its place."""
    spec: dict[str, Any] = chart.to_dict()
    spec.pop("config", None)
    return {**spec, "autosize": {"type": "fit-x", "contains": "padding"}}
