"""Attacks over seeds: the same result wherever they are played, and a fault that says where it happened."""

import dataclasses
import importlib.util
import time
from pathlib import Path

import pytest

from lab.lab_fakes import ATTACKS, die, play_badly, play_fake, play_slowly
from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.attack.attack import Attack
from weighbeam.lab.attack.catalogue import list_attacks
from weighbeam.lab.simulate.season import Season
from weighbeam.lab.trials.bench import run_bench
from weighbeam.lab.trials.processes import Processes
from weighbeam.lab.trials.ray_tasks import RayTasks

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is an extra: weighbeam[ray]")


def test_the_number_of_workers_changes_nothing() -> None:
    told = []
    runs = [
        run_bench(ATTACKS, range(3), Season(rounds=8), spread=Processes(workers), play=play_fake, on_done=note)
        for workers, note in ((1, lambda *done: told.append(done)), (3, lambda *_: None))
    ]
    assert runs[0].outcomes == runs[1].outcomes
    assert list(runs[0].outcomes) == [attack.name for attack in ATTACKS]
    assert told == [(n, 9) for n in range(1, 10)]
    assert runs[0].versions.senses
    assert (runs[0].seeds, runs[0].rounds) == ((0, 1, 2), 8)


def test_a_fault_names_the_attack_and_the_seed() -> None:
    with pytest.raises(WeighbeamError, match=r"inference/padding with seed 1: ValueError: the scale broke") as fault:
        run_bench(ATTACKS, range(3), spread=Processes(2), play=play_badly)
    assert fault.value.code == "trial_failed"


def test_after_a_fault_nothing_more_is_played() -> None:
    start = time.monotonic()
    with pytest.raises(WeighbeamError, match="the first one"):
        run_bench(ATTACKS, range(30), spread=Processes(2), play=play_slowly)
    assert time.monotonic() - start < 30


def test_a_process_that_dies_is_told() -> None:
    with pytest.raises(WeighbeamError) as fault:
        run_bench(ATTACKS[:1], [0], spread=Processes(1), play=die)
    assert fault.value.code == "worker_lost"


@pytest.mark.parametrize(
    ("seeds", "rounds", "workers", "code"),
    [(0, 8, 1, "bad_seeds"), (5000, 8, 1, "bad_seeds"), (1, 2, 1, "bad_rounds"), (1, 8, -1, "bad_workers")],
)
def test_nonsense_is_refused_before_anything_runs(seeds: int, rounds: int, workers: int, code: str) -> None:
    with pytest.raises(WeighbeamError) as fault:
        run_bench(ATTACKS, range(seeds), Season(rounds=rounds), spread=Processes(workers), play=die)
    assert fault.value.code == code


@needs_ray
def test_ray_comes_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    here = run_bench(ATTACKS, range(2), Season(rounds=8), spread=Processes(1), play=play_fake)
    there = run_bench(ATTACKS, range(2), Season(rounds=8), spread=RayTasks(workers=2), play=play_fake)
    assert dataclasses.replace(there, seconds=here.seconds) == here
    with pytest.raises(WeighbeamError, match="inference/padding with seed 1"):
        run_bench(ATTACKS, range(2), spread=RayTasks(workers=1), play=play_badly)


@needs_ray
@pytest.mark.parametrize("address", ["127.0.0.1:9", "nowhere:none", "no.such.host.invalid:6379"])
def test_a_cluster_that_is_not_there_is_told_soon(address: str) -> None:
    with pytest.raises(WeighbeamError, match="no Ray at") as fault:
        run_bench(ATTACKS, range(1), spread=RayTasks(address), play=play_fake)
    assert fault.value.code == "ray_unreachable"


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is there")
def test_without_ray_it_says_how_to_get_it() -> None:
    with pytest.raises(WeighbeamError, match="weighbeam\\[ray\\]") as fault:
        run_bench(ATTACKS, range(2), spread=RayTasks(), play=play_fake)
    assert fault.value.code == "ray_missing"


def test_every_attack_has_a_name_of_its_own_and_says_what_it_is() -> None:
    attacks: tuple[Attack, ...] = list_attacks()
    names = [attack.name for attack in attacks]
    assert len(set(names)) == len(names)
    for attack in attacks:
        assert all(text.strip().endswith(".") for text in (attack.what, attack.against, attack.open)), attack.name
