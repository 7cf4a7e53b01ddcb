"""The drawing process: one packed chart on standard input, one picture on standard output, at low priority."""

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from weighbeam.charts.curve import chart_curve
from weighbeam.charts.drawing import unpack_curve, unpack_heatmap
from weighbeam.charts.heatmap import chart_heatmap
from weighbeam.charts.render import render_html, render_png, render_svg

FORMS: Mapping[str, Callable[[dict[str, Any], str], bytes]] = {
    "png": lambda spec, _: render_png(spec),
    "svg": lambda spec, _: render_svg(spec).encode(),
    "html": lambda spec, title: render_html(spec, title).encode(),
}
CHARTS: Mapping[str, tuple[str, Callable[[bytes], dict[str, Any]]]] = {
    "Heatmap": ("Heatmap", lambda data: chart_heatmap(unpack_heatmap(data))),
    "Curve": ("Novelty", lambda data: chart_curve(unpack_curve(data))),
}

if __name__ == "__main__":
    os.nice(10)
    title, chart = CHARTS[sys.argv[2]]
    sys.stdout.buffer.write(FORMS[sys.argv[1]](chart(sys.stdin.buffer.read()), title))
