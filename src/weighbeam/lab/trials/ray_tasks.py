"""Seasons played by Ray: a Ray started here for as long as it takes, or a cluster that is there already."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.simulate.measure import Trial
from weighbeam.lab.trials.jobs import Job, OnDone, Play, attempt, order_jobs, unwrap_result
from weighbeam.lab.trials.processes import count_workers
from weighbeam.senses.adapters.cluster.connection import LOCAL, ONE_THREAD, join_ray, require_ray

MAX_LOSSES = 3


@dataclass(frozen=True, slots=True)
class RayTasks:
    """`address` is Ray's own: `local` starts one, `auto` finds the one of this machine, else `host:port`. Every machine
    of a cluster needs this very version of weighbeam."""

    address: str = LOCAL
    workers: int = 0

    def play(self, play: Play, jobs: Sequence[Job], on_done: OnDone) -> list[Trial]:
        require_ray("leave out --ray")
        given: dict[str, Any] = {"num_cpus": count_workers(self.workers, len(jobs))} if self.address == LOCAL else {}
        ray = join_ray(self.address, runtime_env={"env_vars": ONE_THREAD}, **given)
        try:
            return _play_all(ray, play, jobs, on_done)
        finally:
            ray.shutdown()


def _play_all(ray: Any, play: Play, jobs: Sequence[Job], on_done: OnDone) -> list[Trial]:
    """A job that a worker or a node was lost over is played again elsewhere; its chance is its own, so is its trial."""
    remote = ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")(attempt)
    numbers = {remote.remote(play, jobs[number]): number for number in order_jobs(jobs)}
    trials: dict[int, Trial] = {}
    losses = dict.fromkeys(range(len(jobs)), 0)
    waiting = list(numbers)
    while waiting:
        (done, *_), waiting = ray.wait(waiting, num_returns=1)
        number = numbers.pop(done)
        try:
            trials[number] = unwrap_result(ray.get(done))
        except ray.exceptions.RayError as fault:
            losses[number] += 1
            if losses[number] == MAX_LOSSES or isinstance(fault, ray.exceptions.RayTaskError):
                told = f"{jobs[number].name}: {type(fault).__name__}"
                raise WeighbeamError("worker_lost", told, "look at Ray's logs; use fewer --workers") from None
            again = remote.remote(play, jobs[number])
            numbers[again] = number
            waiting.append(again)
            continue
        on_done(len(trials), len(jobs))
    return [trials[number] for number in range(len(jobs))]
