"""What a round, a search and an epoch cost, and what a large load needs by them: `python -m benchmarks past`.

The units are written beside the capacity model, which `weighbeam lab capacity` and docs/guides/scale.md use.
"""

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.cluster import compare_workers, tell_workers
from benchmarks.lab import MINERS, VALIDATORS, make_subnet, write_yuma
from benchmarks.measure import Line, show_lines
from benchmarks.novelty_index import probe_index
from benchmarks.novelty_vectors import SIZE, probe_vectors
from benchmarks.sparse_epoch import run_epoch_dense
from weighbeam.lab.capacity.plan import CapacityLoad, plan
from weighbeam.lab.capacity.units import load_units

UNITS = Path(__file__).parents[1] / "src/weighbeam/lab/capacity/units.json"
TESTS = Path(__file__).parents[1] / "tests"
MECHANISMS = ("chunking", "inference", "evidence")
MANY, LAPS = 1_000_000, 5


def measure_past() -> Iterator[Line]:
    rounds = {name: _probe_round(name) for name in MECHANISMS}
    for name, cost in rounds.items():
        yield Line(f"{name}, {cost['answers']} answers: observe, record, commit", _show(cost), "reported", True)
    compared = compare_workers()
    yield from tell_workers(compared)
    vectors, memory = probe_vectors(), probe_index("int8-bound", MANY)
    units = {
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "rounds": rounds,
        "worker_share": compared.ratio / 2,
        "server_rows_per_second": SIZE / vectors["one"],
        "server_rows_together_per_second": SIZE / vectors["batch"],
        "server_row_bytes": vectors["bytes"] + vectors["piece_bytes"],
        "memory_rows_per_second": MANY / memory["single"],
        "memory_row_bytes": memory["grown"] * 1e6 / MANY,
        "insert_seconds": vectors["locked"],
        "epoch_seconds_per_pair": _time_epoch() / (VALIDATORS * MINERS),
    }
    UNITS.write_text(json.dumps(_round(units), indent=2) + "\n")
    for need in plan(CapacityLoad(), load_units(UNITS.read_text())):
        yield Line(need.what, f"{need.amount}: {need.because}", "one bears it", need.borne)


def _probe_round(name: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.round_costs_probe", name]
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _show(cost: dict[str, Any]) -> str:
    written = f"{cost['record_seconds'] * 1e3:.1f} + {cost['commit_seconds'] * 1e3:.1f} ms on PostgreSQL"
    return f"{cost['observe_seconds']:.2f} CPU s, {written}, {cost['journal_bytes'] / 1e6:.2f} MB"


def _time_epoch() -> float:
    subnet, params = make_subnet(), write_yuma(yuma3=True, liquid=False)
    laps = []
    for _ in range(LAPS):
        start = time.process_time()
        run_epoch_dense(subnet, params)
        laps.append(time.process_time() - start)
    return min(laps)


def _round(value: Any) -> Any:
    """Three digits: the fourth is the machine's mood."""
    if isinstance(value, dict):
        return {name: _round(one) for name, one in value.items()}
    return float(f"{value:.3g}") if isinstance(value, float) else value


if __name__ == "__main__":
    show_lines(measure_past())
