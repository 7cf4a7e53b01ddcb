"""The service under load: `python -m benchmarks service` on a month of 256 miners, made once and kept.

One process serves, one commits rounds to the same journal, one asks. WEIGHBEAM_BENCH_MONTH names the journal's folder.
"""

import os
import sqlite3
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.first_paint import paint_pages, show_painted
from benchmarks.measure import Line, show_lines
from benchmarks.service_journal import SEED, make_journal
from benchmarks.service_process import make_token, read_cpu, run_client, run_rounds, run_service, write_settings
from benchmarks.service_targets import check_all, list_targets

SECONDS, CONNECTIONS, EVERY = 30.0, 8, 30.0
"""A round every 30 seconds is more than twice what a validator of four mechanisms makes."""
VISITORS, WARM_SECONDS = 64, 20.0
"""A service runs for months: what it answers in its first seconds is not counted."""
LEAST_RATE, MOST_P99, MOST_PAINT = 200.0, 250.0, 1000.0


def find_month() -> Path:
    return Path(os.environ.get("WEIGHBEAM_BENCH_MONTH") or Path(tempfile.gettempdir()) / f"weighbeam-month-{SEED}")


def measure_service() -> Iterator[Line]:
    journal = make_journal(find_month())
    with tempfile.TemporaryDirectory() as place:
        settings, port = write_settings(Path(place), journal)
        headers = {"Authorization": f"Bearer {make_token(settings, f'bench-{port}')}"}
        with run_service(settings, port) as pid:
            targets = list_targets(journal, port, headers, SEED)
            wrong = check_all(port, targets, headers)
            shown = f"{len(targets) - len(wrong)} of {len(targets)}; {tell_journal(journal)}"
            yield Line("routes and pages that answer", shown, "all", not wrong)
            yield measure_paint(port, targets, headers)
            yield from measure_load(journal.parent, port, headers, targets, pid)


def tell_journal(journal: Path) -> str:
    """What is in it."""
    with closing(sqlite3.connect(journal)) as raw:
        rounds, first, last = raw.execute("SELECT COUNT(*), MIN(at), MAX(at) FROM rounds").fetchone()
        miners = raw.execute("SELECT COUNT(DISTINCT hotkey) FROM miners").fetchone()[0]
    days, size = (last - first) / 86_400, journal.stat().st_size / 1e6
    return f"{miners} miners, {days:.0f} days, {rounds:,} rounds, {size:,.0f} MB, seed {SEED}"


def measure_paint(port: int, targets: Mapping[str, Sequence[str]], headers: Mapping[str, str]) -> Line:
    pages = {name.removeprefix("page "): paths[0] for name, paths in targets.items() if name.startswith("page ")}
    painted = paint_pages(port, pages, headers)
    slowest = max(one.cold for one in painted)
    what = f"first paint of each of {len(pages)} pages, by a browser that knows nothing yet / again"
    return Line(what, show_painted(painted), f"≤ {MOST_PAINT:g} ms", slowest <= MOST_PAINT)


def measure_load(
    folder: Path, port: int, headers: Mapping[str, str], targets: Mapping[str, Sequence[str]], pid: int
) -> Iterator[Line]:
    given = {"port": port, "connections": CONNECTIONS, "headers": dict(headers), "targets": targets}
    with run_rounds(folder, WARM_SECONDS + 2 * SECONDS + 60, EVERY):
        run_client({**given, "seconds": WARM_SECONDS, "seed": SEED})
        before = read_cpu(pid)
        limit = run_client({**given, "seconds": SECONDS, "seed": SEED + 1})
        spent = (read_cpu(pid) - before) / limit["seconds"]
        steady = {"connections": VISITORS, "pace": VISITORS / LEAST_RATE}
        paced = run_client({**given, **steady, "seconds": SECONDS, "seed": SEED + 2})
    rate = len(join(limit)) / limit["seconds"]
    how = f"{CONNECTIONS} connections, a round every {EVERY:g} s beside it"
    shown = f"{rate:.0f} a second (service {spent:.0%} of a core, client {limit['cpu']:.1f} s)"
    yield Line(f"read requests, {how}", shown, f"≥ {LEAST_RATE:g} a second", rate >= LEAST_RATE)
    every, at = join(paced), len(join(paced)) / paced["seconds"]
    last = find_p99(every)
    shown = f"{last:.0f} ms (median {statistics.median(every):.1f} ms, longest {max(every):.0f} ms)"
    yield Line(
        f"at {at:.0f} a second by {VISITORS} visitors, 99 of 100 are answered within",
        shown,
        f"≤ {MOST_P99:g} ms",
        last <= MOST_P99,
    )
    faults = {**limit["faults"], **paced["faults"]}
    yield Line("requests that were refused or broke", str(faults or 0), "0", not faults)
    yield Line("the same by route", list_slowest(paced["spent"]), "reported", True)


def join(found: Mapping[str, Any]) -> list[float]:
    return [one for ones in found["spent"].values() for one in ones]


def find_p99(spent: Sequence[float]) -> float:
    """
    >>> find_p99([1.0] * 99 + [7.0])
    1.0
    """
    return sorted(spent)[max(0, -(-99 * len(spent) // 100) - 1)]


def list_slowest(spent: Mapping[str, Sequence[float]]) -> str:
    """p99 by route, the slowest first."""
    worst = sorted(((find_p99(ones), name) for name, ones in spent.items()), reverse=True)
    return ", ".join(f"{name} {last:.0f}" for last, name in worst) + " ms"


if __name__ == "__main__":
    show_lines(measure_service())
