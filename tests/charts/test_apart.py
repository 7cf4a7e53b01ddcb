"""Drawn by another process: the same picture, nothing heavy here, and an end to every wait."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from charts.plausible import make_heatmap
from charts.test_heatmap import make_hostile
from weighbeam.charts import drawing
from weighbeam.charts.drawing import draw_in_process
from weighbeam.charts.heatmap import chart_heatmap
from weighbeam.charts.render import render_png, render_svg
from weighbeam.core.errors import WeighbeamError


def number_anew(svg: str) -> str:
    """Colour gradients are numbered through the life of a process."""
    return re.sub(r"gradient_\d+", "gradient", svg)


def test_it_is_the_same_picture() -> None:
    heatmap = make_heatmap(5)
    assert draw_in_process(heatmap) == render_png(chart_heatmap(heatmap))
    assert number_anew(draw_in_process(heatmap, "svg").decode()) == number_anew(render_svg(chart_heatmap(heatmap)))
    assert draw_in_process(heatmap, "html").startswith(b"<!DOCTYPE html>")


def test_hostile_names_arrive() -> None:
    drawn = draw_in_process(make_hostile(), "svg").decode()
    assert number_anew(drawn) == number_anew(render_svg(chart_heatmap(make_hostile())))


def test_what_draws_is_not_loaded_here() -> None:
    """The cause of a stalled event loop, tested instead of its time."""
    code = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from charts.plausible import make_heatmap\n"
        "from weighbeam.charts.drawing import draw_in_process\n"
        "draw_in_process(make_heatmap(3))\n"
        "print([name for name in ('altair', 'vl_convert') if name in sys.modules])"
    )
    root = Path(__file__).parent.parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_picture_that_takes_too_long_is_given_up() -> None:
    start = time.monotonic()
    with pytest.raises(WeighbeamError, match=r"picture_fault: .* within 0\.05 s"):
        draw_in_process(make_heatmap(40), seconds=0.05)
    assert time.monotonic() - start < 5


def test_a_failure_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WeighbeamError, match=r"picture_fault: .*KeyError: 'gif'"):
        draw_in_process(make_heatmap(2), "gif")
    monkeypatch.setattr(drawing.sys, "executable", "/nowhere/python")
    with pytest.raises(WeighbeamError, match="picture_fault: nothing could be started"):
        draw_in_process(make_heatmap(2))


def test_nothing_is_not_drawn() -> None:
    with pytest.raises(WeighbeamError, match="nothing_to_draw"):
        draw_in_process(make_heatmap(0))
