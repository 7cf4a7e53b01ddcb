"""Play attacks over seeds, and keep what they came to with all that is needed to play them again."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weighbeam.core.errors import require
from weighbeam.lab.attack.attack import Attack
from weighbeam.lab.simulate.measure import AttackOutcome, measure
from weighbeam.lab.simulate.season import Season
from weighbeam.lab.trials.jobs import Job, OnDone, Play, play_job
from weighbeam.lab.trials.processes import Processes, Spread
from weighbeam.lab.trials.versions import Versions, note_versions

MAX_SEEDS = 1000
MIN_ROUNDS = 4
MAX_ROUNDS = 10_000
Overrides = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class BenchResult:
    """`outcomes` by the attack's name; `params` are those other than the mechanism's own, by mechanism."""

    outcomes: Mapping[str, AttackOutcome]
    seeds: tuple[int, ...]
    rounds: int
    params: Mapping[str, Mapping[str, Any]]
    versions: Versions
    seconds: float


def run_bench(
    attacks: Sequence[Attack],
    seeds: Sequence[int],
    season: Season | None = None,
    params: Overrides | None = None,
    spread: Spread | None = None,
    on_done: OnDone = lambda *_: None,
    play: Play = play_job,
) -> BenchResult:
    """Every attack with every seed. `play` travels by its name, so it must be a function of a module."""
    given, length = params or {}, season or Season()
    check_length(len(seeds), length.rounds)
    jobs = [Job(a.mechanism, a.name, seed, given.get(a.mechanism, {}), length) for a in attacks for seed in seeds]
    start = time.monotonic()
    trials = (spread or Processes()).play(play, jobs, on_done)
    seconds = time.monotonic() - start
    rows = [trials[first : first + len(seeds)] for first in range(0, len(jobs), len(seeds))]
    return BenchResult(
        outcomes={attack.name: measure(row) for attack, row in zip(attacks, rows, strict=True)},
        seeds=tuple(seeds),
        rounds=length.rounds,
        params={name: dict(values) for name, values in given.items() if values},
        versions=note_versions({attack.mechanism for attack in attacks}),
        seconds=round(seconds, 1),
    )


def check_length(seeds: int, rounds: int) -> None:
    require(1 <= seeds <= MAX_SEEDS, "bad_seeds", f"{seeds} seeds", f"give 1 to {MAX_SEEDS}")
    fits = MIN_ROUNDS <= rounds <= MAX_ROUNDS
    require(fits, "bad_rounds", f"{rounds} rounds", f"give {MIN_ROUNDS} to {MAX_ROUNDS}")
