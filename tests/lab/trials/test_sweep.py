"""Parameters over a grid: everything is checked first, and what no other point beats is marked."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.lab_fakes import ATTACKS, die, play_fake
from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.report.records import format_record, load_record
from weighbeam.lab.simulate.measure import Trial
from weighbeam.lab.simulate.season import Season
from weighbeam.lab.trials.jobs import Job
from weighbeam.lab.trials.params import sort_params
from weighbeam.lab.trials.processes import Processes
from weighbeam.lab.trials.sweep import SweepResult, dominates, expand_grid, find_front, run_sweep

GRID = {"duplicate_overlap": [0.4, 0.6], "quality_threshold": [0.25, 0.45]}


def play_grid(job: Job) -> Trial:
    """Ranks tell more the higher the threshold, attackers earn more the higher the overlap that passes."""
    cap, care = job.params.get("duplicate_overlap", 0.5), job.params.get("quality_threshold", 0.35)
    return play_fake(Job(job.mechanism, job.attack, job.seed, {"cap": 4 * cap, "care": 9 * care}, job.season))


@pytest.fixture(scope="module")
def swept() -> SweepResult:
    return run_sweep("inference", GRID, ATTACKS, range(2), Season(rounds=8), Processes(2), play=play_grid)


def test_every_point_is_played_and_the_default_besides(swept: SweepResult) -> None:
    assert [dict(point.params) for point in swept.points][:2] == [
        {},
        {"duplicate_overlap": 0.4, "quality_threshold": 0.25},
    ]
    assert len(swept.points) == 5
    assert [point.default for point in swept.points] == [True, False, False, False, False]
    best = [point for point in swept.points if point.best]
    assert best
    assert all(point.worst.value == max(one.value for one in point.profits.values()) for point in swept.points)
    assert min(point.worst.value for point in swept.points) in [point.worst.value for point in best]


def test_a_record_comes_back_as_it_was(swept: SweepResult, tmp_path: Path) -> None:
    file = tmp_path / "sweep.json"
    file.write_text(json.dumps(format_record(swept)))
    assert load_record(file) == swept


@pytest.mark.parametrize("text", ["[]", "{}", '{"kind": "sweep"}', '{"kind": "bench", "outcomes": {"a": 1e999}}'])
def test_a_file_that_is_no_record_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "sweep.json"
    file.write_text(text)
    with pytest.raises(WeighbeamError) as fault:
        load_record(file)
    assert fault.value.code == "bad_lab_record"


@pytest.mark.parametrize(
    ("mechanism", "grid", "code"),
    [
        ("alchemy", GRID, "unknown_mechanism"),
        ("inference", {"duplicate_overlapp": [1]}, "bad_params"),
        ("inference", {"duplicate_overlap": ["much"]}, "bad_params"),
        ("inference", {"duplicate_overlap": []}, "bad_grid"),
        ("inference", {}, "bad_grid"),
        ("inference", {"duplicate_overlap": [n / 1000 for n in range(400)]}, "bad_grid"),
    ],
)
def test_a_bad_grid_is_refused_before_anything_runs(mechanism: str, grid: dict, code: str) -> None:
    with pytest.raises(WeighbeamError) as fault:
        run_sweep(mechanism, grid, ATTACKS, range(2), spread=Processes(1), play=die)
    assert fault.value.code == code


def test_the_same_point_is_played_once() -> None:
    assert expand_grid("inference", {"quality_threshold": [0.5, 0.50, 0.35]}) == [{}, {"quality_threshold": 0.5}]


@pytest.mark.parametrize("name", ["quality_threshold", "chunking.quality_threshold", "evidence.x", "novelty.top"])
def test_a_parameter_that_belongs_nowhere_is_refused(name: str) -> None:
    with pytest.raises(WeighbeamError):
        sort_params({name: 0.5}, ["chunking", "inference"])


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 9)), min_size=1, max_size=20))
def test_what_is_not_on_the_front_is_beaten_by_the_front(points: list[tuple[float, float]]) -> None:
    front = [point for point, best in zip(points, find_front(points), strict=True) if best]
    assert front
    for point, best in zip(points, find_front(points), strict=True):
        assert best != any(dominates(other, point) for other in front)
