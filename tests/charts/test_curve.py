"""The curve of novelty: what is paid where, under any parameters."""

from pathlib import Path

import pytest

from weighbeam.charts.curve import chart_curve
from weighbeam.charts.drawing import pack_picture, unpack_curve
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.desk.curve import draw_curve
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.store.database import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(f"sqlite:///{tmp_path / 'novelty.db'}")


def test_it_shows_what_is_paid(store: Store) -> None:
    curve = draw_curve(store, NoveltyParams(), "fitted")
    assert curve.marks == ((0.95, 0.01), (0.9, 0.1), (0.85, 1.0), (0.8, 10.0), (0.75, 100.0))
    assert (curve.start, curve.reference, len(curve.other)) == (0.7, 0.95, len(curve.points))
    assert "0.0011%" in curve.subtitle[1]
    assert unpack_curve(pack_picture(curve)) == curve


@pytest.mark.parametrize(
    "params",
    [
        {"reference_similarity": -1.0},
        {"reference_similarity": 1.0, "similarity_step": 2.0},
        {"reward_factor": 1.0},
        {"similarity_step": 0.000001},
        {"min_reward": 1e-6, "base_units": 1000, "max_reward": 1e9},
    ],
)
def test_odd_parameters_can_be_charted(params: dict[str, float], store: Store) -> None:
    spec = chart_curve(draw_curve(store, NoveltyParams(**params), "fitted"))
    assert spec["datasets"]["points"]


def test_nothing_is_not_drawn(store: Store) -> None:
    with pytest.raises(WeighbeamError, match="nothing_to_draw"):
        draw_curve(store, NoveltyParams(min_reward=0, max_reward=0), "exponential")
