"""Uses a cluster, prints who did the work (`BROKER WORKER`), and stays: for tests that kill it."""

import sys
import time

from senses.cluster.trades import Obedience
from weighbeam.senses.cluster.client import Cluster
from weighbeam.senses.cluster.settings import ClusterSettings
from weighbeam.senses.cluster.steady import Steady


def main(address: str) -> None:
    cluster = Cluster(ClusterSettings(address))
    work = Steady(cluster, Obedience(), Obedience().open(), lambda items: [-1] * len(items))
    (worker,) = work.do(["sleep 0"])
    print(cluster.broker_pid, worker, flush=True)
    time.sleep(60)


if __name__ == "__main__":
    main(sys.argv[1])
