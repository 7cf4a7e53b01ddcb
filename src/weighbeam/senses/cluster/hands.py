"""Workers that are actors of Ray: each on a core of its own, wherever there is room; they end with their owner."""

from contextlib import suppress
from typing import Any

from weighbeam.senses.cluster.join import ONE_THREAD
from weighbeam.senses.cluster.member import Made, Unfit, tell_fault
from weighbeam.senses.cluster.messages import Open
from weighbeam.senses.cluster.worker import Introduction, Worker


class RayHand:
    """One actor. Ray starts none again and repeats nothing: its pool does."""

    def __init__(self, ray: Any, terms: Open) -> None:
        self._ray = ray
        kind = ray.remote(
            num_cpus=1,
            max_restarts=0,
            max_task_retries=0,
            max_concurrency=terms.at_once,
            scheduling_strategy="SPREAD",
            runtime_env={"env_vars": ONE_THREAD},
        )(Worker)
        self._actor = kind.remote(terms.spec, terms.standard.version)

    async def introduce(self) -> Introduction:
        """A node without weighbeam, or with one that cannot be loaded, shows here."""
        try:
            found: Introduction = await self._actor.introduce.remote()
        except self._ray.exceptions.RayTaskError as fault:
            raise Unfit(tell_fault(fault)) from None
        except self._ray.exceptions.RayActorError as fault:
            if fault.actor_init_failed:
                raise Unfit(tell_fault(fault)) from None
            raise
        return found

    async def do(self, payload: bytes) -> Made:
        made: Made = await self._actor.do.remote(payload)
        return made

    def end(self) -> None:
        with suppress(Exception):
            self._ray.kill(self._actor)


def count_nodes(ray: Any) -> dict[str, float]:
    """What the cluster has: nodes that live, and their cores."""
    alive = [node for node in ray.nodes() if node["Alive"]]
    return {"nodes": len(alive), "cpus": sum(node["Resources"].get("CPU", 0.0) for node in alive)}
