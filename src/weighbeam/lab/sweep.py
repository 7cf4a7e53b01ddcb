"""Other parameters: what they do to the accuracy of ranks, and what attacks earn under them."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weighbeam.core.errors import require
from weighbeam.lab.attack import Attack
from weighbeam.lab.bench import check_length
from weighbeam.lab.grid import Grid, expand_grid
from weighbeam.lab.jobs import Job, OnDone, Play, play_job
from weighbeam.lab.measure import Interval, Trial, count_unpaid, estimate_tau, measure
from weighbeam.lab.pareto import find_front
from weighbeam.lab.play import Season
from weighbeam.lab.spread import Processes, Spread
from weighbeam.lab.versions import Versions, note_versions

MOST_TRIALS = 20_000


@dataclass(frozen=True, slots=True)
class Point:
    """One set of parameters. `tau` is from seasons without an attack; `worst` is the profit of the attack that earns
    most; `best` says that no other point is better in one of the two and no worse in the other. Where in some seasons
    (`unpaid`, a share) nobody is paid at all, it never is."""

    params: Mapping[str, Any]
    default: bool
    best: bool
    tau: Interval
    worst: Interval
    worst_attack: str
    mean: float
    profits: Mapping[str, Interval]
    unpaid: float = 0.0


@dataclass(frozen=True, slots=True)
class Swept:
    mechanism: str
    grid: Mapping[str, tuple[Any, ...]]
    attacks: tuple[str, ...]
    seeds: tuple[int, ...]
    rounds: int
    points: tuple[Point, ...]
    versions: Versions
    seconds: float


def run_sweep(
    mechanism: str,
    grid: Grid,
    attacks: Sequence[Attack],
    seeds: Sequence[int],
    season: Season | None = None,
    spread: Spread | None = None,
    on_done: OnDone = lambda *_: None,
    play: Play = play_job,
) -> Swept:
    """The default and every point of the grid: honest seasons, and seasons of each attack."""
    length, params = season or Season(), expand_grid(mechanism, grid)
    check_length(len(seeds), length.rounds)
    require(len(attacks) > 0, "unknown_attack", f"no attack on {mechanism} was chosen", "see `weighbeam lab list`")
    names = [None, *(attack.name for attack in attacks)]
    jobs = [Job(mechanism, name, seed, one, length) for one in params for name in names for seed in seeds]
    require(len(jobs) <= MOST_TRIALS, "bad_grid", f"{len(jobs):,} seasons", f"keep to {MOST_TRIALS:,}")
    start = time.monotonic()
    trials = (spread or Processes()).play(play, jobs, on_done)
    width = len(names) * len(seeds)
    rows = [trials[first : first + width] for first in range(0, len(jobs), width)]
    measured = [_measure(one, row, names, len(seeds)) for one, row in zip(params, rows, strict=True)]
    return Swept(
        mechanism=mechanism,
        grid={name: tuple(values) for name, values in grid.items()},
        attacks=tuple(attack.name for attack in attacks),
        seeds=tuple(seeds),
        rounds=length.rounds,
        points=mark_best(measured),
        versions=note_versions({mechanism}),
        seconds=round(time.monotonic() - start, 1),
    )


def mark_best(points: Sequence[Point]) -> tuple[Point, ...]:
    from dataclasses import replace

    places = [(point.tau.value, point.worst.value) if not point.unpaid else (-math.inf, math.inf) for point in points]
    front = find_front(places)
    return tuple(replace(one, best=best and not one.unpaid) for one, best in zip(points, front, strict=True))


def _measure(params: Mapping[str, Any], trials: Sequence[Trial], names: Sequence[str | None], seeds: int) -> Point:
    honest, attacked = trials[:seeds], trials[seeds:]
    rows = {name: attacked[n * seeds : (n + 1) * seeds] for n, name in enumerate(filter(None, names))}
    profits = {name: measure(row).profit for name, row in rows.items()}
    worst = max(profits, key=lambda name: (profits[name].value, name))
    return Point(
        params=dict(params),
        default=not params,
        best=False,
        tau=estimate_tau(honest),
        unpaid=count_unpaid(trials),
        worst=profits[worst],
        worst_attack=worst,
        mean=sum(profit.value for profit in profits.values()) / len(profits),
        profits=profits,
    )
