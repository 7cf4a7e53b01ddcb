"""The Ray cluster of a validator, from its settings, and what becomes of it in alerts."""

from functools import partial

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.engine.alerts import Alerts
from weighbeam.senses.cluster.client import Cluster
from weighbeam.senses.cluster.join import require_ray
from weighbeam.senses.cluster.messages import Bounds
from weighbeam.senses.cluster.settings import ClusterSettings
from weighbeam.settings.load import Loaded

OVER = {"cluster_lost": "the cluster works again", "worker_differs": "every worker is like this machine again"}


def open_cluster(loaded: Loaded) -> Cluster | None:
    """None unless an address is set; joined when first used."""
    section = loaded.settings.cluster
    if section.address is None:
        return None
    require_ray("leave out cluster.address")
    told = f"cluster.address is {section.address!r}"
    require("://" not in section.address, "bad_config", told, "join a Ray node on this machine, and write HOST:PORT")
    bounds = Bounds(section.least, max(section.least, section.most), section.idle_seconds)
    return Cluster(ClusterSettings(section.address, bounds, section.patience_seconds))


def tell_cluster(cluster: Cluster, alerts: Alerts) -> None:
    """What the cluster has to tell goes to the alerts from now on."""
    cluster.watch.listen(partial(_tell, alerts), partial(_end, alerts))


def _tell(alerts: Alerts, fault: WeighbeamError) -> None:
    alerts.tell(fault.code, "warning", fault.message)


def _end(alerts: Alerts, code: str) -> None:
    alerts.end({code: OVER[code]})
