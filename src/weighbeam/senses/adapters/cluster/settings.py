"""Cluster settings: address, number of workers, and patience."""

from dataclasses import dataclass, field

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.cluster.messages import WorkerBounds

PATIENCE_SECONDS = 30.0
INSTALL = "install the same weighbeam and models on every node, of one kind of processor"


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """`address` is Ray's own: `auto` or `host:port`. If no worker does anything for `patience_seconds`, this machine
    does the work itself."""

    address: str
    bounds: WorkerBounds = field(default_factory=WorkerBounds)
    patience_seconds: float = PATIENCE_SECONDS


def make_lost_error(why: str) -> WeighbeamError:
    remedy = "look at ray status and weighbeam doctor; rounds continue with this machine's own senses"
    return WeighbeamError("cluster_lost", why, remedy)


def make_differs_error(why: str) -> WeighbeamError:
    return WeighbeamError("worker_differs", why, INSTALL)
