"""Charts of the dashboard: better is up or to the right, and axes end where values end."""

from typing import Any

from weighbeam.charts.dashboard import chart_course, chart_standings


def make_rows(*spans: tuple[float, float]) -> list[dict[str, Any]]:
    return [
        {"miner": str(at), "place": at, "standing": value, "low": value - off, "high": value + off}
        for at, (value, off) in enumerate(spans, 1)
    ]


def find_scales(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return [layer["encoding"]["x"]["scale"] for layer in spec["layer"]]


def test_no_rank_is_negative_and_the_axis_ends_with_the_values() -> None:
    spec = chart_standings(make_rows((0.1, 0.3), (4.0, 0.5)), lower_is_better=True)
    assert [row["low"] for row in spec["datasets"]["rows"]] == [0.0, 3.5]
    for scale in find_scales(spec):
        assert scale["domain"] == [0.0, 4.725]
        assert scale["reverse"] is True
        assert scale["nice"] is False


def test_a_standing_below_zero_keeps_its_place() -> None:
    spec = chart_standings(make_rows((-1.0, 0.0), (1.0, 0.0)), lower_is_better=False)
    assert [scale["domain"] for scale in find_scales(spec)] == [[-1.1, 1.1]] * 2
    assert not any(scale["reverse"] for scale in find_scales(spec))


def test_few_miners_reserve_no_room() -> None:
    assert chart_standings(make_rows((1.0, 0.0), (2.0, 0.0)), False)["height"] == 36


def course(*values: float, lower: bool = False) -> list[dict[str, Any]]:
    rows = [
        {"at": 1000.0 * at, "value": value, "standing": value, "status": "valid", "round": str(at)}
        for at, value in enumerate(values)
    ]
    return [part["encoding"]["y"] for part in chart_course(rows, "score", "standing", lower)["vconcat"]]


def test_a_rank_that_falls_is_a_line_that_rises() -> None:
    score, standing = course(3.0, 2.0, 1.0, lower=True)
    assert "reverse" not in score["scale"]
    assert standing["scale"]["reverse"] is True
    assert "reverse" not in course(1.0, 2.0)[1]["scale"]


def test_one_absurd_score_does_not_hide_the_others() -> None:
    score, _ = course(0.5, 0.6, 0.7, -1.29e87)
    assert score["scale"]["domain"] == [0.49, 0.71]
    assert score["scale"]["clamp"] is True


def test_a_miner_without_a_standing_has_no_line_of_it() -> None:
    rows = [{"at": 1.0, "value": 0.0, "standing": None, "status": "failed", "round": "r"}]
    (part,) = chart_course(rows, "score", "standing")["vconcat"]
    assert part["encoding"]["y"]["title"] == "score"
