"""One season as plain data that can travel to another process or machine."""

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.attack.attack import TrialSetting
from weighbeam.lab.attack.catalogue import list_attacks
from weighbeam.lab.simulate.measure import Trial
from weighbeam.lab.simulate.season import Season, play_season
from weighbeam.lab.simulate.worlds import make_world

HONEST = "honest"


@dataclass(frozen=True, slots=True)
class Job:
    """`attack` is a name of the catalogue; without one everybody is honest."""

    mechanism: str
    attack: str | None
    seed: int
    params: Mapping[str, Any]
    season: Season

    @property
    def name(self) -> str:
        """
        >>> Job("chunking", None, 7, {}, Season()).name
        'chunking/honest with seed 7'
        """
        return f"{self.attack or f'{self.mechanism}/{HONEST}'} with seed {self.seed}"


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A season that came to no end, in words that travel."""

    code: str
    message: str
    remedy: str


Play = Callable[[Job], Trial]
OnDone = Callable[[int, int], None]


def play_job(job: Job) -> Trial:
    if job.attack is None:
        return play_season(make_world(job.mechanism, job.params), None, 0, job.seed, job.season)
    attack = next(attack for attack in list_attacks() if attack.name == job.attack)
    return attack.run(job.seed, TrialSetting(make_world, job.params, job.season))


def attempt(play: Play, job: Job) -> Trial | FailedJob:
    """Run a job in the other process; a fault names its season."""
    try:
        return play(job)
    except WeighbeamError as fault:
        return FailedJob(fault.code, f"{job.name}: {fault.message}", fault.remedy)
    except Exception as fault:
        last = traceback.extract_tb(fault.__traceback__)[-1]
        told = f"{job.name}: {type(fault).__name__}: {fault} ({Path(last.filename).name}, line {last.lineno})"
        return FailedJob(
            "trial_failed", told, "play it alone with --workers 1; if none of your parameters causes it, report it"
        )


def unwrap_result(result: Trial | FailedJob) -> Trial:
    if isinstance(result, FailedJob):
        raise WeighbeamError(result.code, result.message, result.remedy)
    return result


def order_jobs(jobs: Sequence[Job]) -> list[int]:
    """The first season of each mechanism first: it embeds what the others then find on disk.

    >>> jobs = [Job(name, None, seed, {}, Season()) for name in ("chunking", "evidence") for seed in (0, 1)]
    >>> order_jobs(jobs)
    [0, 2, 1, 3]
    """
    seen: dict[str, int] = {}
    places = []
    for number, job in enumerate(jobs):
        seen[job.mechanism] = place = seen.get(job.mechanism, -1) + 1
        places.append((place, number))
    return [number for _, number in sorted(places)]
