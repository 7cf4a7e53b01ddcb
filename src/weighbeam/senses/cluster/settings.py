"""Which cluster, how much of it, and how long it may keep a round waiting."""

from dataclasses import dataclass, field

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.cluster.messages import Bounds

PATIENCE_SECONDS = 30.0
INSTALL = "install the same weighbeam and models on every node, of one kind of processor"


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """`address` is Ray's own: `auto` or `host:port`. If no worker does anything for `patience_seconds`, this machine
    does the work itself."""

    address: str
    bounds: Bounds = field(default_factory=Bounds)
    patience_seconds: float = PATIENCE_SECONDS


def tell_lost(why: str) -> WeighbeamError:
    remedy = "look at ray status and weighbeam doctor; rounds go on with this machine's own senses meanwhile"
    return WeighbeamError("cluster_lost", why, remedy)


def tell_differs(why: str) -> WeighbeamError:
    return WeighbeamError("worker_differs", why, INSTALL)
