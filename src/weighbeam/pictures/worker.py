"""The other side of `apart`: one packed heatmap on standard input, one picture on standard output, and the end.

A picture can wait: whatever else this machine does goes first.
"""

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from weighbeam.pictures.heatmap import chart_heatmap
from weighbeam.pictures.packed import unpack_heatmap
from weighbeam.pictures.render import render_html, render_png, render_svg

FORMS: Mapping[str, Callable[[dict[str, Any]], bytes]] = {
    "png": render_png,
    "svg": lambda spec: render_svg(spec).encode(),
    "html": lambda spec: render_html(spec).encode(),
}

if __name__ == "__main__":
    os.nice(10)
    heatmap = unpack_heatmap(sys.stdin.buffer.read())
    sys.stdout.buffer.write(FORMS[sys.argv[1]](chart_heatmap(heatmap)))
