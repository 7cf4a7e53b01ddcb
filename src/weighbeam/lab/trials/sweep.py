"""Sweep parameters: rank accuracy and attack profit over a grid, and its Pareto front."""

import itertools
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weighbeam.core.canonical import canonical_json
from weighbeam.core.errors import require
from weighbeam.lab.attack.attack import Attack
from weighbeam.lab.simulate.measure import Interval, Trial, count_unpaid, estimate_tau, measure
from weighbeam.lab.simulate.season import Season
from weighbeam.lab.trials.bench import check_length
from weighbeam.lab.trials.jobs import Job, OnDone, Play, play_job
from weighbeam.lab.trials.params import check_params
from weighbeam.lab.trials.processes import Processes, Spread
from weighbeam.lab.trials.versions import Versions, note_versions


def find_front(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Of points of (gain, cost): those that nothing equals or betters in both and betters in one.

    >>> find_front([(0.8, 0.5), (0.7, 0.6), (0.6, 0.1), (0.8, 0.5)])
    [True, False, True, True]
    """
    return [not any(dominates(other, point) for other in points) for point in points]


def dominates(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """
    >>> dominates((0.8, 0.5), (0.8, 0.6)), dominates((0.8, 0.5), (0.8, 0.5)), dominates((0.9, 0.6), (0.8, 0.5))
    (True, False, False)
    """
    no_worse = one[0] >= other[0] and one[1] <= other[1]
    return no_worse and one != other


MAX_POINTS = 256
Grid = Mapping[str, Sequence[Any]]


def expand_grid(mechanism: str, grid: Grid) -> list[dict[str, Any]]:
    """The default first, then every combination that differs from it.

    >>> expand_grid("inference", {"quality_threshold": [0.35, 0.5]})
    [{}, {'quality_threshold': 0.5}]
    """
    require(len(grid) > 0, "bad_grid", "there is nothing to vary", "write --grid name=value,value")
    for name, values in grid.items():
        require(len(values) > 0, "bad_grid", f"{name} has no value", "write --grid name=value,value")
    count = count_points(grid)
    require(count <= MAX_POINTS, "bad_grid", f"{count:,} combinations", f"give at most {MAX_POINTS}")
    seen, points = {_spell(mechanism, {})}, [dict[str, Any]()]
    for values in itertools.product(*grid.values()):
        params = dict(zip(grid, values, strict=True))
        spelt = _spell(mechanism, params)
        if spelt not in seen:
            seen.add(spelt)
            points.append(params)
    return points


def count_points(grid: Grid) -> int:
    """
    >>> count_points({"a": [1, 2, 3], "b": [1, 2]})
    6
    """
    count = 1
    for values in grid.values():
        count *= len(values)
    return count


def _spell(mechanism: str, params: Mapping[str, Any]) -> bytes:
    """All parameters in one spelling, so that what is the same is played once."""
    return canonical_json(check_params(mechanism, params).model_dump(mode="json"))


MAX_TRIALS = 20_000


@dataclass(frozen=True, slots=True)
class SweepPoint:
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
class SweepResult:
    mechanism: str
    grid: Mapping[str, tuple[Any, ...]]
    attacks: tuple[str, ...]
    seeds: tuple[int, ...]
    rounds: int
    points: tuple[SweepPoint, ...]
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
) -> SweepResult:
    """The default and every point of the grid: honest seasons, and seasons of each attack."""
    length, params = season or Season(), expand_grid(mechanism, grid)
    check_length(len(seeds), length.rounds)
    require(len(attacks) > 0, "unknown_attack", f"no attack on {mechanism} was chosen", "see `weighbeam lab list`")
    names = [None, *(attack.name for attack in attacks)]
    jobs = [Job(mechanism, name, seed, one, length) for one in params for name in names for seed in seeds]
    require(len(jobs) <= MAX_TRIALS, "bad_grid", f"{len(jobs):,} seasons", f"keep to {MAX_TRIALS:,}")
    start = time.monotonic()
    trials = (spread or Processes()).play(play, jobs, on_done)
    width = len(names) * len(seeds)
    rows = [trials[first : first + width] for first in range(0, len(jobs), width)]
    measured = [_measure(one, row, names, len(seeds)) for one, row in zip(params, rows, strict=True)]
    return SweepResult(
        mechanism=mechanism,
        grid={name: tuple(values) for name, values in grid.items()},
        attacks=tuple(attack.name for attack in attacks),
        seeds=tuple(seeds),
        rounds=length.rounds,
        points=mark_best(measured),
        versions=note_versions({mechanism}),
        seconds=round(time.monotonic() - start, 1),
    )


def mark_best(points: Sequence[SweepPoint]) -> tuple[SweepPoint, ...]:
    from dataclasses import replace

    places = [(point.tau.value, point.worst.value) if not point.unpaid else (-math.inf, math.inf) for point in points]
    front = find_front(places)
    return tuple(replace(one, best=best and not one.unpaid) for one, best in zip(points, front, strict=True))


def _measure(params: Mapping[str, Any], trials: Sequence[Trial], names: Sequence[str | None], seeds: int) -> SweepPoint:
    honest, attacked = trials[:seeds], trials[seeds:]
    rows = {name: attacked[n * seeds : (n + 1) * seeds] for n, name in enumerate(filter(None, names))}
    profits = {name: measure(row).profit for name, row in rows.items()}
    worst = max(profits, key=lambda name: (profits[name].value, name))
    return SweepPoint(
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
