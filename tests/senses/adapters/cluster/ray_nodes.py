"""A real Ray cluster of several nodes on this machine, in a process of its own that does as it is told on its input.

`python ray_nodes.py FOLDER` starts a head without cores and prints its address. Then a line of input is a command:
`add CORES` starts a node and prints its number; `kill NUMBER` ends a node with all its workers, as a power cut would;
`kill all` every one.
"""

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
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
            for node in [cluster.head_node, *nodes] if which == "all" else [nodes[int(which)]]:
                cut_power(node)
            print("killed", flush=True)


def cut_power(node: Any) -> None:
    """A process that nobody waits for keeps its children from noticing that it is gone."""
    processes = [one.process for started in node.all_processes.values() for one in started]
    for pid in [process.pid for process in processes] + list_children({process.pid for process in processes}):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for process in processes:
        process.wait()


def list_children(parents: set[int]) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(entry.read_text().rpartition(")")[2].split()[1]) in parents:
                found.append(int(entry.parent.name))
    return found


if __name__ == "__main__":
    main(sys.argv[1])
