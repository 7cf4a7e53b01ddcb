"""From one chart specification to a PNG, an SVG and a page. The one module that knows vl-convert.

vl-convert runs Vega in an engine of its own inside this process and keeps the interpreter lock all the while: see
`apart` for how a picture is drawn without holding up anyone. Nothing is loaded from anywhere: no base URL is allowed.
"""

import json
from typing import Any

from weighbeam.pictures.png import squeeze_png

VEGA_LITE = "6.4"
MOST_PIXELS = 2100

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; \
style-src 'unsafe-inline'; img-src data: blob:">
<title>%(title)s</title>
</head>
<body>
<div id="picture"></div>
<script type="application/json" id="chart">%(chart)s</script>
<script>%(program)s</script>
</body>
</html>
"""
PROGRAM = """
const chart = JSON.parse(document.getElementById("chart").textContent);
const actions = {export: true, source: false, compiled: false, editor: false};
vegaEmbed("#picture", chart, {mode: "vega-lite", renderer: "canvas", ast: true, actions: actions});
"""


def render_png(spec: dict[str, Any]) -> bytes:
    """Twice as fine as on a plain screen, unless that would be a giant."""
    import vl_convert

    scale = choose_scale(find_width(spec))
    return squeeze_png(vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=scale, allowed_base_urls=[]))


def render_svg(spec: dict[str, Any]) -> str:
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[])
    return svg


def render_html(spec: dict[str, Any], title: str = "Heatmap") -> str:
    """A page that needs nothing else, and may load nothing else.

    vl-convert's own page puts the chart between script tags as it is, where a name such as `</script>` would end
    the script. Here no `<` of the chart reaches the page, and the page runs no code made of strings.
    """
    import vl_convert

    program = vl_convert.javascript_bundle(PROGRAM, vl_version=VEGA_LITE)
    return PAGE % {"title": title, "chart": write_inert(spec), "program": program.replace("</script", "<\\/script")}


def write_inert(spec: dict[str, Any]) -> str:
    """JSON that is harmless anywhere in HTML.

    >>> write_inert({"title": "</script>&"})
    '{"title":"\\\\u003c/script\\\\u003e\\\\u0026"}'
    """
    text = json.dumps(spec, separators=(",", ":"), allow_nan=False)
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def find_width(spec: dict[str, Any]) -> float:
    """Of charts one above the other, the first one's.

    >>> find_width({"width": 480}), find_width({"vconcat": [{"width": 640}, {"width": 640}]})
    (480, 640)
    """
    width: float = spec["width"] if "width" in spec else spec["vconcat"][0]["width"]
    return width


def choose_scale(width: float) -> float:
    """
    >>> choose_scale(480), choose_scale(1400), choose_scale(3072)
    (2.0, 1.5, 1.0)
    """
    return min(2.0, max(1.0, MOST_PIXELS / width))
