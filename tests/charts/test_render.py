"""PNG, SVG and page: whole, small, and closed to whatever a name may hold."""

import json
import re
import struct
from html.parser import HTMLParser
from typing import Any

import pytest

from charts.plausible import make_heatmap
from charts.test_heatmap import make_hostile
from weighbeam.charts.heatmap import chart_heatmap
from weighbeam.charts.render import VEGA_LITE, render_html, render_png, render_svg, squeeze_png


class Page(HTMLParser):
    """The tags of a page and what its scripts hold."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "script" and data.strip():
            self.scripts.append(data)


def measure(png: bytes) -> tuple[int, int]:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", png[16:24])


@pytest.mark.parametrize(("count", "max_bytes"), [(1, 40_000), (10, 150_000), (12, 200_000), (100, 400_000)])
def test_pictures_hold_the_whole_and_stay_small(count: int, max_bytes: int) -> None:
    spec = chart_heatmap(make_heatmap(count))
    png = render_png(spec)
    width, height = measure(png)
    assert min(width, height) > spec["width"]
    assert max(width, height) < 4000
    assert len(png) < max_bytes


def test_the_largest_group_is_drawn_too() -> None:
    png = render_png(chart_heatmap(make_heatmap(256)))
    assert min(measure(png)) > 256 * 12
    assert len(png) < 1_000_000


def test_a_page_needs_nothing_and_may_load_nothing() -> None:
    page = Page(render_html(chart_heatmap(make_heatmap(3))))
    assert page.tags == ["html", "head", "meta", "meta", "title", "body", "div", "script", "script"]
    assert page.links == []


def test_a_name_cannot_leave_the_page_s_data() -> None:
    spec = chart_heatmap(make_hostile())
    page = Page(render_html(spec))
    assert page.tags.count("script") == 2
    chart, program = page.scripts
    assert json.loads(chart) == spec
    assert not re.search("[<>&]", chart)
    assert "alert(1)" not in program


def test_hostile_names_are_drawn_in_every_form() -> None:
    spec = chart_heatmap(make_hostile())
    assert "<script" not in render_svg(spec)
    assert len(render_png(spec)) > 10_000


def test_nothing_is_fetched() -> None:
    spec: dict[str, Any] = {
        "data": {"url": "http://127.0.0.1:9/x.json"},
        "mark": "point",
        "width": 10,
        "encoding": {"x": {"field": "x", "type": "quantitative"}},
    }
    for draw in (render_png, render_svg):
        with pytest.raises(ValueError, match="not allowed"):
            draw(spec)


def test_squeezing_keeps_every_pixel() -> None:
    import vl_convert

    large = vl_convert.vegalite_to_png(chart_heatmap(make_heatmap(5)), vl_version=VEGA_LITE, scale=1)
    small = squeeze_png(large)
    assert len(small) < len(large) / 2
    assert read_rgb(small) == read_rgb(large)
    assert squeeze_png(small) == small


def read_rgb(png: bytes) -> bytes:
    """Pixels by another reader than ours: the picture inside an SVG, drawn again."""
    import base64

    import vl_convert

    width, height = measure(png)
    image = f'<image width="{width}" height="{height}" href="data:image/png;base64,{base64.b64encode(png).decode()}"/>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{image}</svg>'
    return bytes(vl_convert.svg_to_png(svg, scale=1))
