"""The chart: every answer a row and a column of its own, nothing clipped, nothing a miner chose in charge."""

import json
import re
from dataclasses import replace
from html import unescape
from typing import Any

import numpy as np
import pytest

from charts.plausible import make_heatmap
from weighbeam.charts.heatmap import Heatmap, chart_heatmap
from weighbeam.charts.render import VEGA_LITE, render_svg
from weighbeam.core.errors import WeighbeamError

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "\u202eright to left\u202c",
    "שלום עולם שלום",
    "quote\"'`quote",
    "\x00\x07\x1b[31mred",
    "line\nbreak\u2028",
    "z\u0351\u0352\u0353\u0354\u0355algo",
    "half \ud800 character",
    "x" * 100_000,
    "${alert(1)} {{7*7}} datum.v",
    "",
]


def make_hostile() -> Heatmap:
    return replace(make_heatmap(len(HOSTILE)), hotkeys=tuple(HOSTILE), title=" ".join(HOSTILE), subtitle=tuple(HOSTILE))


def find_texts(svg: str) -> list[str]:
    return [unescape(text) for text in re.findall(r"<(?:text|tspan)\b[^>]*>([^<]+)</", svg)]


def walk(value: Any) -> list[str]:
    """Every expression of a specification."""
    if isinstance(value, dict):
        own = [value[key] for key in ("labelExpr", "test", "calculate") if isinstance(value.get(key), str)]
        return own + [found for key, part in value.items() if key != "datasets" for found in walk(part)]
    return [found for part in value for found in walk(part)] if isinstance(value, list) else []


@pytest.mark.parametrize("count", [1, 2, 10, 12, 13, 40, 100])
def test_every_label_is_there_twice(count: int) -> None:
    heatmap = make_heatmap(count)
    texts = find_texts(render_svg(chart_heatmap(heatmap)))
    names = [("× " if flag else "") + key[:8] for key, flag in zip(heatmap.hotkeys, heatmap.flagged, strict=True)]
    assert {name: texts.count(name) for name in names} == dict.fromkeys(names, 2)


@pytest.mark.parametrize("count", [1, 12, 13, 100, 256])
def test_one_cell_for_each_pair_and_numbers_for_few(count: int) -> None:
    spec = chart_heatmap(make_heatmap(count))
    assert len(spec["datasets"]["cells"]) == count * count
    assert (len(spec["layer"]) == 3) is (count <= 12)


def test_two_that_begin_alike_stay_two() -> None:
    twins = replace(make_heatmap(2), hotkeys=("5GrwvaEF-one", "5GrwvaEF-two"))
    spec = chart_heatmap(twins)
    assert find_texts(render_svg(spec)).count("5GrwvaEF") == 4
    assert [answer["name"] for answer in spec["datasets"]["answers"]] == list(twins.hotkeys)
    assert len(spec["datasets"]["cells"]) == 4


def test_frames_are_around_clusters_only() -> None:
    heatmap = replace(make_heatmap(6), clusters=(1, 1, 2, 3, None, None))
    assert chart_heatmap(heatmap)["datasets"]["blocks"] == [
        {"start": 0, "stop": 2}, {"start": 2, "stop": 3}, {"start": 3, "stop": 4},
    ]  # fmt: skip


def test_colour_is_fixed_and_clamped_and_the_number_is_the_real_one() -> None:
    similarity = np.array([[1.0, -0.31], [-0.31, 1.0]])
    spec = chart_heatmap(replace(make_heatmap(2), similarity=similarity))
    scale = spec["layer"][0]["encoding"]["color"]["scale"]
    assert (scale["domain"], scale["clamp"]) == ([0, 1], True)
    svg = render_svg(spec)
    assert find_texts(svg).count("−0.31") == 2
    assert svg.count('fill="rgb(232, 239, 246)"') == 2


def test_title_and_subtitle_are_drawn() -> None:
    heatmap = make_heatmap(10)
    texts = find_texts(render_svg(chart_heatmap(heatmap)))
    assert {heatmap.title, *heatmap.subtitle} <= set(texts)


def test_hostile_names_are_data_and_are_drawn() -> None:
    spec = chart_heatmap(make_hostile())
    assert json.loads(json.dumps(spec, ensure_ascii=False).encode()) == spec
    assert not any(part in expression for expression in walk(spec) for part in ("alert", "x" * 8, "quote"))
    texts = find_texts(render_svg(spec))
    for label in ("</script", "·right t", "quote\"'`", "···[31mr", "line·bre", "z·····al", "half · c", "xxxxxxxx"):
        assert texts.count(label) + texts.count(f"× {label}") == 2, label
    assert all(len(answer["name"]) <= 64 for answer in spec["datasets"]["answers"])


def test_nothing_cannot_be_drawn() -> None:
    with pytest.raises(WeighbeamError, match="nothing_to_draw"):
        chart_heatmap(make_heatmap(0))


def test_the_chart_and_what_draws_it_speak_the_same_version() -> None:
    import altair
    import vl_convert

    assert altair.SCHEMA_VERSION.removeprefix("v").startswith(VEGA_LITE)
    assert VEGA_LITE in vl_convert.get_vegalite_versions()
