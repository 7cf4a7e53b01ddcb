"""Seasons played by Ray: a Ray started here for as long as it takes, or a cluster that is there already."""

import importlib.util
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.lab.jobs import Job, OnDone, Play, attempt, order_jobs, read_result
from weighbeam.lab.measure import Trial
from weighbeam.lab.spread import ONE_THREAD, count_workers

LOCAL = "local"
KNOCK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class RayTasks:
    """`address` is Ray's own: `local` starts one, `auto` finds the one of this machine, else `host:port`. Every machine
    of a cluster needs this very version of weighbeam."""

    address: str = LOCAL
    workers: int = 0

    def play(self, play: Play, jobs: Sequence[Job], on_done: OnDone) -> list[Trial]:
        installed = importlib.util.find_spec("ray") is not None
        require(installed, "ray_missing", "Ray is not installed", "pip install 'weighbeam[ray]', or leave out --ray")
        import ray

        self._join(ray, len(jobs))
        try:
            return _play_all(ray, play, jobs, on_done)
        finally:
            ray.shutdown()

    def _join(self, ray: Any, jobs: int) -> None:
        given: dict[str, Any] = {"num_cpus": count_workers(self.workers, jobs)} if self.address == LOCAL else {}
        if self.address == LOCAL:
            given["include_dashboard"] = False
        try:
            knock(self.address)
            ray.init(
                address=self.address,
                log_to_driver=False,
                logging_level="ERROR",
                runtime_env={"env_vars": ONE_THREAD},
                **given,
            )
        except Exception as fault:
            told = f"no Ray at {self.address!r}: {type(fault).__name__}: {str(fault)[:200]}"
            raise WeighbeamError("ray_unreachable", told, "use local, auto or the host:port of a Ray head") from None


def knock(address: str) -> None:
    """Ray tries for minutes to reach what is not there; a connection tells within seconds."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon:
        socket.create_connection((host, int(port)), KNOCK_SECONDS).close()


def _play_all(ray: Any, play: Play, jobs: Sequence[Job], on_done: OnDone) -> list[Trial]:
    remote = ray.remote(num_cpus=1)(attempt)
    numbers = {remote.remote(play, jobs[number]): number for number in order_jobs(jobs)}
    trials: dict[int, Trial] = {}
    waiting = list(numbers)
    while waiting:
        done, waiting = ray.wait(waiting, num_returns=1)
        try:
            result = ray.get(done[0])
        except ray.exceptions.RayError as fault:
            told = f"{jobs[numbers[done[0]]].name}: {type(fault).__name__}"
            raise WeighbeamError("worker_lost", told, "look at Ray's logs; use fewer --workers") from None
        trials[numbers[done[0]]] = read_result(result)
        on_done(len(trials), len(jobs))
    return [trials[number] for number in range(len(jobs))]
