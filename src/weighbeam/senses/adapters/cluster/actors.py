"""Workers as Ray actors, one core each, which end with their owner."""

import asyncio
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from weighbeam.senses.adapters.cluster.connection import ONE_THREAD
from weighbeam.senses.adapters.cluster.messages import OpenPool
from weighbeam.senses.adapters.cluster.workers import NodeWorker, PartResult, UnfitWorker, WorkerIntroduction

T = TypeVar("T")

MAX_TEXT = 300
ADDRESS = re.compile(r"\bip=([^,)\s]+)")
CALLS = ThreadPoolExecutor(8, "ray")


async def call_in_thread(work: Callable[[], T]) -> T:
    """Run a call to Ray's head in a thread: it may block until the head is back."""
    return await asyncio.get_running_loop().run_in_executor(CALLS, work)


class RayWorker:
    """One actor. Ray starts none again and repeats nothing: its pool does."""

    def __init__(self, ray: Any, terms: OpenPool) -> None:
        self._ray, self._terms = ray, terms
        self._actor: Any = None
        self._ended = False

    async def introduce(self) -> WorkerIntroduction:
        """A node without weighbeam, or with one that cannot be loaded, shows here."""
        self._actor = await call_in_thread(self._start)
        if self._ended:
            self.end()
        try:
            found: WorkerIntroduction = await self._actor.introduce.remote()
        except self._ray.exceptions.RayTaskError as fault:
            raise UnfitWorker(describe_unfit(str(fault))) from None
        except self._ray.exceptions.RayActorError as fault:
            if fault.actor_init_failed:
                raise UnfitWorker(describe_unfit(str(fault))) from None
            raise
        return found

    async def do(self, payload: bytes) -> PartResult:
        made: PartResult = await self._actor.do.remote(payload)
        return made

    def end(self) -> None:
        self._ended = True
        if self._actor is not None:
            CALLS.submit(self._kill)

    def _start(self) -> Any:
        kind = self._ray.remote(NodeWorker).options(
            num_cpus=1,
            max_restarts=0,
            max_task_retries=0,
            max_concurrency=self._terms.at_once,
            scheduling_strategy="SPREAD",
            runtime_env={"env_vars": ONE_THREAD},
        )
        return kind.remote(self._terms.spec, self._terms.standard.version)

    def _kill(self) -> None:
        with suppress(Exception):
            self._ray.kill(self._actor)


def describe_unfit(text: str) -> str:
    """Where and why, of a page that Ray writes; the same for the same reason.

    >>> describe_unfit("ray::NodeWorker.introduce() (pid=7, ip=192.0.2.2, repr=W)\\n  File w.py\\nOSError: no space\\n")
    'on 192.0.2.2: OSError: no space'
    """
    where = ADDRESS.search(text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"on {where[1] if where else 'a node'}: {lines[-1][:MAX_TEXT] if lines else 'no reason given'}"


def count_nodes(ray: Any) -> dict[str, float]:
    """Count live nodes and their cores."""
    alive = [node for node in ray.nodes() if node["Alive"]]
    return {"nodes": len(alive), "cpus": sum(node["Resources"].get("CPU", 0.0) for node in alive)}
