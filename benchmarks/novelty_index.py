"""The novelty corpus: the exact nearest of 100,000 and of 1,000,000 rows, each index in a process of its own.

A search is compared with reading the same bytes once in the same process, by whichever of numpy's `max` and `sum` is
faster there, both in CPU time of one thread.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from benchmarks.measure import Line, show_lines

SIZES = (100_000, 1_000_000)
SCANS = ("flat", "int8-bound")
MOST_TIMES = (1.3, 1.5)
"""For one query against reading: of a plain scan, and of one of codes."""
FLOAT_MB = 384 * 4 / 1024**2
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def measure_novelty_index() -> Iterator[Line]:
    for rows in SIZES:
        probes = {scan: probe_index(scan, rows) for scan in SCANS}
        for scan, probe in probes.items():
            yield from _tell(f"{rows:,} rows, {scan}", probe, rows)
        flat, bound = (probes[scan]["single"] for scan in SCANS)
        shown = f"{flat / bound:.1f}× ({flat * 1e3:.1f} ms → {bound * 1e3:.1f} ms of CPU)"
        yield Line(f"{rows:,} rows: int8-bound against flat, one query", shown, "> 1×", flat > bound)

    switched = probe_index("auto", SIZES[0])
    yield from _tell_memory(f"{SIZES[0]:,} rows, auto, while it switches", switched, SIZES[0])


def _tell(what: str, probe: dict[str, Any], rows: int) -> Iterator[Line]:
    sound = probe["wrong"] == 0 and probe["seen"]
    yield Line(f"{what}: answers that are not the oracle's", f"{probe['wrong']} of 64", "0, inserts seen", sound)
    single, batch, read = probe["single"], probe["batch"], min(probe["read"], probe["summed"])
    times = f"{single * 1e3:.1f} ms; max {probe['read'] * 1e3:.1f} ms, sum {probe['summed'] * 1e3:.1f} ms"
    most = MOST_TIMES["products" in probe]
    yield Line(
        f"{what}: one query against reading", f"{single / read:.2f}× ({times})", f"≤ {most}×", single <= most * read
    )
    if "products" in probe:
        products = probe["products"]
        shown = f"{products / read:.2f}× ({products * 1e3:.1f} ms, {products / rows * 1e9:.1f} ns a row)"
        yield Line(f"{what}: its kernel's products alone against reading", shown, "reported", True)
    rate = f"{single / batch:.1f}× ({batch * 1e3:.2f} ms a query)"
    yield Line(f"{what}: rate in a batch of 64", rate, "≥ 5×", single >= 5 * batch)
    yield from _tell_memory(what, probe, rows)
    if any(probe["fetched"]):
        fetched = f"{probe['fetched'][0]:g} in the median, {probe['fetched'][1]} at most"
        yield Line(f"{what}: exact rows read for a query", fetched, "reported", True)


def _tell_memory(what: str, probe: dict[str, Any], rows: int) -> Iterator[Line]:
    share = probe["grown"] / (rows * FLOAT_MB)
    shown = f"{probe['grown']:.0f} MB, {share:.2f} of the float32 rows"
    yield Line(f"{what}: memory at its largest", shown, "≤ 1.3", share <= 1.3 and probe["wrong"] == 0)


def probe_index(scan: str, rows: int) -> Any:
    command = [sys.executable, "-m", "benchmarks.novelty_index_probe", scan, str(rows)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **ONE_THREAD}, check=True)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    show_lines(measure_novelty_index())
