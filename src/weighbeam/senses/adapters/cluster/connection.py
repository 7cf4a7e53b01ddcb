"""Connect to a Ray cluster; no other module does."""

import importlib.util
import socket
from typing import Any

from weighbeam.core.errors import WeighbeamError, require

LOCAL = "local"
CONNECT_SECONDS = 5.0
NAMESPACE = "weighbeam"
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def require_ray(remedy: str) -> None:
    installed = importlib.util.find_spec("ray") is not None
    require(installed, "ray_missing", "Ray is not installed", f"pip install 'weighbeam[ray]', or {remedy}")


def join_ray(address: str, **given: Any) -> Any:
    """The module, joined to the cluster; `ray_unreachable` within seconds if nobody is there."""
    import ray

    if address == LOCAL:
        given["include_dashboard"] = False
    try:
        check_reachable(address)
        ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, logging_level="ERROR", **given)
    except Exception as fault:
        told = f"no Ray at {address!r}: {type(fault).__name__}: {str(fault)[:200]}"
        remedy = (
            "use local, auto or the host:port of a Ray head; a Ray node has to run on this machine too, "
            "and a cluster with a token needs RAY_AUTH_MODE=token in the environment"
        )
        raise WeighbeamError("ray_unreachable", told, remedy) from None
    return ray


def check_reachable(address: str) -> None:
    """Ray tries for minutes to reach what is not there; a connection tells within seconds."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon:
        socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
