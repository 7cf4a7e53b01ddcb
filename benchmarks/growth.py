"""What grows with what: rounds, journals and a service step by step, each step in a process of its own.

It takes an hour or two, most of it to make the journals, which are kept: WEIGHBEAM_BENCH_GROWTH names their folder.
`python -m benchmarks growth` runs it; `make bench` leaves it out.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.growth_probe import read_peak
from benchmarks.measure import Line, show_lines
from benchmarks.service import join
from benchmarks.service_journal import MINERS, ROUND_SECONDS, SEED, find_copy, make_journal
from benchmarks.service_process import make_token, read_cpu, run_client, run_service, write_settings
from benchmarks.service_targets import check_all, list_targets

CHUNKING = ((25, 50_000), (100, 50_000), (256, 50_000), (256, 100_000), (256, 200_000))
EMBEDDED = (64, 200_000)
INFERENCE = (50, 100, 250, 500)
DAYS = (1, 3, 10, 30)
SERVED, SERVED_DAYS = (64, 256, 1_000), 0.5
CLIENT_SECONDS, CONNECTIONS = 20.0, 4


def find_folder() -> Path:
    return Path(os.environ.get("WEIGHBEAM_BENCH_GROWTH") or Path(tempfile.gettempdir()) / f"weighbeam-growth-{SEED}")


def measure_grown_rounds() -> Iterator[Line]:
    before: Mapping[str, Any] = {}
    for answers, characters in CHUNKING:
        found = probe("chunking", str(answers), str(characters))
        found["cpu"] -= found["embedding"]
        what = f"chunking, {answers} answers × {characters:,} characters, all but embedding {found['texts']:,} texts"
        yield tell(what, found, before, answers * characters)
        before = {**found, "size": answers * characters}
    answers, characters = EMBEDDED
    found = probe("embedded", str(answers), str(characters))
    shown = (
        f"{found['cpu']:.1f} CPU s, {found['embedding'] / found['cpu']:.0%} of it embedding, {found['memory']:.0f} MB"
    )
    what = f"chunking, {answers} answers × {characters:,} characters, {found['texts']:,} texts embedded by minilm-fp32"
    yield Line(what, shown, "reported", True)
    before = {}
    for answers in INFERENCE:
        found = probe("inference", str(answers))
        share = found["embedding"] / found["cpu"]
        what = f"inference, {answers} answers of about 330 words, {share:.0%} of it embedding {found['texts']:,} texts"
        yield tell(what, found, before, answers)
        before = {**found, "size": answers}


def measure_grown_journals() -> Iterator[Line]:
    """Two rounds every 300 seconds, of 25 answers each."""
    folder = find_folder() / "days"
    last = make_journal(folder, DAYS[-1], copied=DAYS[:-1])
    files = {days: last if days == DAYS[-1] else find_copy(folder, days) for days in DAYS}
    commands = {"replay": ("replay",), "leaderboard": ("journal", "leaderboard", "--mechanism", "chunking")}
    for name, command in commands.items():
        before: Mapping[str, Any] = {}
        for days, file in files.items():
            found = probe("command", *command, "--store", str(file))
            rounds = round(days * 86_400 / ROUND_SECONDS) * 2
            what = f"{name}, {days} days of {MINERS} miners, {rounds:,} rounds, {file.stat().st_size / 1e6:,.0f} MB"
            yield tell(what, found, before, days)
            before = {**found, "size": days}


def measure_grown_services() -> Iterator[Line]:
    before: Mapping[str, Any] = {}
    for miners in SERVED:
        journal = make_journal(find_folder() / f"miners-{miners}", SERVED_DAYS, miners)
        found = serve(journal)
        what = f"service, {miners:,} miners, {SERVED_DAYS} days: every route once"
        wanted = f"all of {found['routes']} answer"
        yield tell(what, found, before, miners, wanted, found["wrong"] == 0)
        shown = (
            f"{found['request'] * 1e3:.1f} ms of CPU a request, {found['rate']:.0f} a second by {CONNECTIONS} clients"
        )
        shown += f", {found['request'] / before['request']:.2f}× the step before" if before else ""
        yield Line(f"service, {miners:,} miners: then", shown, "reported", True)
        before = {**found, "size": miners}


def serve(journal: Path) -> dict[str, Any]:
    """CPU seconds of a service for its first answers, and for each of many later ones."""
    with tempfile.TemporaryDirectory() as place:
        settings, port = write_settings(Path(place), journal)
        headers = {"Authorization": f"Bearer {make_token(settings, f'growth-{port}')}"}
        with run_service(settings, port) as pid:
            targets = list_targets(journal, port, headers, SEED)
            begun = read_cpu(pid)
            wrong = check_all(port, targets, headers)
            first = read_cpu(pid) - begun
            given = {"port": port, "connections": CONNECTIONS, "headers": dict(headers), "targets": targets}
            begun = read_cpu(pid)
            done = run_client({**given, "seconds": CLIENT_SECONDS, "seed": SEED})
            count, spent = len(join(done)), read_cpu(pid) - begun
            found = {"cpu": first, "memory": read_peak(str(pid)), "routes": len(targets), "wrong": len(wrong)}
    return {**found, "request": spent / count, "rate": count / done["seconds"]}


def tell(
    what: str,
    found: Mapping[str, Any],
    before: Mapping[str, Any],
    size: int,
    wanted: str = "reported",
    met: bool = True,
) -> Line:
    """CPU time and memory, and their ratio to the step before, beside the ratio of sizes."""
    shown = f"{found['cpu']:.2f} CPU s, {found['memory']:.0f} MB"
    if before:
        times, grown = found["cpu"] / before["cpu"], found["memory"] / before["memory"]
        shown += f": {times:.2f}× and {grown:.2f}× for {size / before['size']:.3g} times as much"
    return Line(what, shown, wanted, met)


def probe(*words: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.growth_probe", *words]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    for measure in (measure_grown_rounds, measure_grown_journals, measure_grown_services):
        show_lines(measure())
