"""The novelty corpus on pgvector: one scan by one process of the server and by its workers, beside the embedded one."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import Line, show_lines

SIZE = 100_000
TESTS = Path(__file__).parents[1] / "tests"
"""Where a server of one's own comes from."""


def measure_vectors() -> Iterator[Line]:
    probe = probe_vectors()
    what = f"{SIZE:,} rows"
    yield Line(
        f"{what}: answers that are not the embedded index's", f"{probe['wrong']} of 64", "0", probe["wrong"] == 0
    )
    one = probe["one"]
    shown = f"{one / probe['flat']:.1f}× ({probe['flat'] * 1e3:.1f} ms → {one * 1e3:.1f} ms)"
    yield Line(f"{what}: one query by one process, against the embedded flat scan", shown, "reported", True)
    shown = f"{one / probe['batch']:.1f}× ({probe['batch'] * 1e3:.1f} ms a query)"
    yield Line(f"{what}: rate of 32 queries in one scan", shown, "≥ 3×", one >= 3 * probe["batch"])
    share = probe["locked"] / one
    shown = f"{probe['locked'] * 1e3:.1f} ms, {share:.2f} of a scan"
    yield Line(f"{what}: under the lock, to compare with what is new and insert", shown, "< 0.5", share < 0.5)
    yield Line(f"{what}: bytes on disk for a row", f"{probe['bytes']:.0f}", "≤ 1.1 × 1,536", probe["bytes"] <= 1690)
    yield Line(f"{what}: copied from the pieces", f"{probe['rate']:,.0f} a second", "reported", True)
    serial, parallel = probe["serial"], probe["parallel"]
    shown = f"{serial / parallel:.1f}× ({serial * 1e3:.0f} ms → {parallel * 1e3:.0f} ms)"
    what = f"{5 * SIZE:,} rows: one query with two workers, against one process"
    yield Line(what, shown, "reported: it takes free cores", True)


def probe_vectors() -> Any:
    command = [sys.executable, "-m", "benchmarks.novelty_vectors_probe", str(SIZE)]
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    show_lines(measure_vectors())
