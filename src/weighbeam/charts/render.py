"""From one chart specification to a PNG, an SVG and a page; the one module that knows vl-convert.

vl-convert runs Vega in an engine of its own inside this process and keeps the interpreter lock all the while: see
`apart` for how a picture is drawn without holding up anyone. Nothing is loaded from anywhere: no base URL is allowed.
"""

import json
import re
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
RGBA_8_BIT = (8, 6, 0, 0, 0)
RGB_8_BIT = (8, 2, 0, 0, 0)
PLAIN, FROM_LEFT, FROM_ABOVE = 0, 1, 2


def squeeze_png(png: bytes) -> bytes:
    """The picture without its transparency, if every pixel is opaque; as it was if it is of another make."""
    pixels = _parse_pixels(png)
    if pixels is None or (pixels[:, :, 3] != 255).any():
        return png
    height, width = pixels.shape[:2]
    rows = pixels[:, :, :3].reshape(height, -1)
    above = np.diff(rows, axis=0, prepend=np.zeros((1, rows.shape[1]), np.uint8))
    body = min((_deflate(PLAIN, rows), _deflate(FROM_ABOVE, above)), key=len)
    header = struct.pack(">II5B", width, height, *RGB_8_BIT)
    chunks = [(b"IHDR", header), (b"IDAT", body), (b"IEND", b"")]
    return SIGNATURE + b"".join(_encode_chunk(kind, data) for kind, data in chunks)


def _parse_pixels(png: bytes) -> NDArray[np.uint8] | None:
    """Height, width and red, green, blue, alpha; nothing unless each row is plain or as differences from the left."""
    chunks = list(_parse_chunks(png))
    width, height, *make = struct.unpack(">II5B", chunks[0][1])
    if tuple(make) != RGBA_8_BIT:
        return None
    packed = zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT"))
    rows = np.frombuffer(packed, np.uint8).reshape(height, 1 + 4 * width)
    ways, pixels = rows[:, 0], rows[:, 1:].reshape(height, width, 4)
    if not np.isin(ways, (PLAIN, FROM_LEFT)).all():
        return None
    summed: NDArray[np.uint8] = np.cumsum(pixels, axis=1, dtype=np.uint8)
    return np.where((ways == FROM_LEFT)[:, None, None], summed, pixels)


def _parse_chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(SIGNATURE)
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        yield kind, png[at + 8 : at + 8 + length]
        at += 12 + length


def _encode_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _deflate(way: int, rows: NDArray[np.uint8]) -> bytes:
    marked = np.pad(rows, ((0, 0), (1, 0)), constant_values=way)
    return zlib.compress(marked.tobytes(), 9)


VEGA_LITE = "6.4"
OUTLINE, DECIMALS = re.compile(r'\bd="[^"]*"'), re.compile(r"(\.\d\d)\d+")
MAX_PIXELS = 2100

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


def squeeze_svg(svg: str) -> str:
    """The same drawing with no more than two decimals in its outlines: less than what a screen can show.

    >>> squeeze_svg('<path d="M18.30769230769231,0h2.5"/><text>0.12345</text>')
    '<path d="M18.30,0h2.5"/><text>0.12345</text>'
    """
    return OUTLINE.sub(lambda found: DECIMALS.sub(r"\1", found[0]), svg)


def render_html(spec: dict[str, Any], title: str = "Heatmap") -> str:
    """A page that needs nothing else, and may load nothing else.

    vl-convert's own page puts the chart between script tags as it is, where a name such as `</script>` would end
    the script. Here no `<` of the chart reaches the page, and the page runs no code made of strings.
    """
    import vl_convert

    program = vl_convert.javascript_bundle(PROGRAM, vl_version=VEGA_LITE)
    return PAGE % {
        "title": title,
        "chart": format_inert_json(spec),
        "program": program.replace("</script", "<\\/script"),
    }


def format_inert_json(spec: dict[str, Any]) -> str:
    """JSON that is harmless anywhere in HTML.

    >>> format_inert_json({"title": "</script>&"})
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
    return min(2.0, max(1.0, MAX_PIXELS / width))
