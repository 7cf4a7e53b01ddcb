"""A real Ray cluster of several nodes on this machine, in a process of its own that does as it is told on its input.

`python ray_nodes.py FOLDER` starts a head without cores and prints its address. Then a line of input is a command:
`add CORES` starts a node and prints its number, `kill NUMBER` ends one as a power cut would, `kill head` the head.
"""

import sys
from typing import Any

from ray.cluster_utils import Cluster

STORE = {"object_store_memory": 80 << 20}


def main(folder: str) -> None:
    head = {"num_cpus": 0, "include_dashboard": False, "temp_dir": folder, **STORE}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes: list[Any] = []
    print(cluster.address, flush=True)
    for line in sys.stdin:
        what, which = line.split()
        if what == "add":
            nodes.append(cluster.add_node(num_cpus=int(which), **STORE))
            print(len(nodes) - 1, flush=True)
        else:
            gone = cluster.head_node if which == "head" else nodes[int(which)]
            for process in (one.process for all in gone.all_processes.values() for one in all):
                process.kill()
            print("killed", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
