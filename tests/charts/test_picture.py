"""Charts of a mechanism's own: they are sound, small, and read the same as tables."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.charts.matrix import CutWorth, PartMatrix, chart_matrix, choose_edges, mean_cells
from weighbeam.charts.picture import ChartPicture, choose_ticks, dress_spec, frame_picture
from weighbeam.charts.ranking import GroupRanges, PaidPlace, chart_groups, chart_pay
from weighbeam.charts.render import render_png, render_svg
from weighbeam.charts.waterfall import WaterfallStep, chain_steps, chart_waterfall

sizes = st.lists(st.integers(1, 30), min_size=1, max_size=100)


@given(sizes, st.integers(1, 64))
def test_cells_are_few_cover_all_and_cross_no_border_if_they_can(lengths: list[int], limit: int) -> None:
    ends = np.cumsum([0, *lengths]).tolist()
    blocks = list(pairwise(ends))
    edges = choose_edges(blocks, limit)
    assert len(edges) - 1 <= limit
    assert (edges[0], edges[-1]) == (0, sum(lengths))
    assert all(low < high for low, high in pairwise(edges))
    if len(blocks) <= limit:
        assert set(ends) <= set(edges)


@given(st.integers(2, 12), st.integers(1, 5), st.integers(0, 100))
def test_a_cell_is_the_mean_of_its_pairs(count: int, step: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).integers(-9, 9, (count, 3))
    edges = [*range(0, count, step), count]
    cells = mean_cells(vectors, edges, 1.0)
    for row in range(len(edges) - 1):
        for column in range(len(edges) - 1):
            pairs = [
                float(vectors[i] @ vectors[j])
                for i in range(edges[row], edges[row + 1])
                for j in range(edges[column], edges[column + 1])
                if i != j
            ]
            assert cells[row, column] == pytest.approx(np.mean(pairs) if pairs else np.nan, nan_ok=True)


@given(st.floats(-1e90, 1e90), st.floats(1e-6, 1e90))
def test_ticks_lie_between_the_ends(low: float, span: float) -> None:
    high = low + span
    if high > low and span > 1e-9 * abs(low):
        ticks = choose_ticks(low, high)
        assert len(ticks) <= 8
        slack = 1e-6 * span + 1e-12
        assert all(low - slack <= tick <= high + slack for tick in ticks)


@pytest.mark.parametrize("last", [0.0, 0.1, -1.7e87, 1e-30])
def test_a_waterfall_of_any_numbers_is_drawn(last: float) -> None:
    steps = [*chain_steps([("in", 0.3), ("out", -0.2)]), WaterfallStep("all", 0.0, last, total=True)]
    spec = chart_waterfall(steps, "worth")
    assert ">all<" in render_svg(dress_spec(spec, 330))
    [low, high] = spec["layer"][1]["encoding"]["x"]["scale"]["domain"]
    rows = spec["datasets"]["steps"]
    assert all(low <= row["from"] <= high and low <= row["to"] <= high for row in rows)


def test_a_matrix_without_a_cut_stands_alone() -> None:
    alone = PartMatrix(np.full((1, 1), np.nan), (0, 1), ((0, 1),), (), ("by meaning",), "parts")
    assert len(chart_matrix(alone)["vconcat"]) == 1
    cut = PartMatrix(
        np.ones((2, 2)), (0, 1, 2), ((0, 1), (1, 2)), (CutWorth(1, "1 and 2", (0.0,)),), ("gain",), "parts"
    )
    svg = render_svg(dress_spec(chart_matrix(cut), 330))
    assert ">parts<" in svg


def test_a_picture_alone_is_on_paper_under_its_title() -> None:
    spec = chart_pay([PaidPlace(1, "a", 1.0, 1.0)])
    picture = ChartPicture("pay", "Pay", "What each gets.", spec, ("place",), ((1,),))
    assert frame_picture(picture)["config"]["background"] == "#ffffff"
    assert render_png(frame_picture(picture)).startswith(b"\x89PNG")
    assert repr(picture) == "<ChartPicture pay: Pay>"


def test_names_that_begin_alike_stay_apart() -> None:
    groups = GroupRanges(("5AAAAAAAA1", "5AAAAAAAA2", "5AAAAAAAA3"), ((0, 2), (1, 3)), {"5AAAAAAAA2"}, 0)
    spec = chart_groups(groups)
    assert [row["rank"] for row in spec["datasets"]["asked"]] == [2]
    assert render_svg(dress_spec(spec, 330)).count("5AAAAAAA") >= 3
