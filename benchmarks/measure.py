"""Time two things alternately, so that a busy moment of the machine hits both."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Line:
    """One measured claim."""

    what: str
    measured: str
    wanted: str
    met: bool


def time_once(run: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    run()
    return clock() - start


def time_alternately(
    first: Callable[[], object],
    second: Callable[[], object],
    laps: int,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[float, float]:
    """Median seconds of each, after one lap to warm up."""
    first()
    second()
    laps_first: list[float] = []
    laps_second: list[float] = []
    for _ in range(laps):
        laps_first.append(time_once(first, clock))
        laps_second.append(time_once(second, clock))
    return median(laps_first), median(laps_second)


def show_line(line: Line) -> None:
    print(f"  {'ok ' if line.met else 'NO '} {line.what}: {line.measured} (wanted: {line.wanted})", flush=True)


def show_lines(lines: Iterable[Line]) -> None:
    for line in lines:
        show_line(line)
