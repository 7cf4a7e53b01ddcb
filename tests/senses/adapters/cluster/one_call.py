"""Uses a cluster, prints who did the work (`BROKER WORKER`), and stays: for tests that kill it."""

import sys
import time

from senses.adapters.cluster.nodes import find_broker
from senses.adapters.cluster.trades import Obedience
from weighbeam.senses.adapters.cluster.client import Cluster
from weighbeam.senses.adapters.cluster.senses import FallbackSense
from weighbeam.senses.adapters.cluster.settings import ClusterSettings


def main(address: str) -> None:
    cluster = Cluster(ClusterSettings(address))
    work = FallbackSense(cluster, Obedience(), Obedience().open(), lambda items: [-1] * len(items))
    (worker,) = work.do(["sleep 0"])
    print(find_broker(cluster), worker, flush=True)
    time.sleep(60)


if __name__ == "__main__":
    main(sys.argv[1])
