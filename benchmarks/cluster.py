"""Rounds whose embedding is done by one and by two workers of a Ray cluster, by turns; one thread each."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from statistics import median

from benchmarks.measure import Line, time_once
from benchmarks.round import Timed, make_round
from weighbeam.mechanism.records import Asked
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.senses.adapters.cluster.client import Cluster
from weighbeam.senses.adapters.cluster.messages import WorkerBounds
from weighbeam.senses.adapters.cluster.senses import ClusterEmbedder
from weighbeam.senses.adapters.cluster.settings import ClusterSettings
from weighbeam.senses.local import LocalSenses

LAPS = 3
CORES = 3
NODES = f"""
import sys
from ray.cluster_utils import Cluster
store = {{"object_store_memory": 80 << 20}}
cluster = Cluster(initialize_head=True, head_node_args={{"num_cpus": 0, "include_dashboard": False, **store}})
for _ in range({CORES}):
    cluster.add_node(num_cpus=1, **store)
print("address", cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""


@dataclass(frozen=True, slots=True)
class Compared:
    """Seconds of a round in this process, by one worker and by two, and the texts it embeds."""

    here: float
    first: float
    second: float
    texts: float

    @property
    def ratio(self) -> float:
        return self.first / self.second


def compare_workers() -> Compared:
    local = LocalSenses(remember=False, workers=1)
    asked = make_round(local)
    with start_nodes() as address, closing(join(address, 1)) as one, closing(join(address, 2)) as two:
        alone, both = (Timed(open_senses(cluster)) for cluster in (one, two))
        spent: dict[int, list[float]] = {0: [], 1: [], 2: []}
        for _ in range(LAPS):
            for workers, senses in enumerate((Timed(local), alone, both)):
                spent[workers].append(time_once(lambda senses=senses: observe(asked, senses)))
    here, first, second = (median(laps) for laps in spent.values())
    return Compared(here, first, second, len(alone.texts) / LAPS)


def measure_cluster() -> Iterator[Line]:
    yield from tell_workers(compare_workers())


def tell_workers(found: Compared) -> Iterator[Line]:
    here, first, second, texts, ratio = found.here, found.first, found.second, found.texts, found.ratio
    rates = f"{texts / first:.0f}/s → {texts / second:.0f}/s, a round {first:.1f} s → {second:.1f} s"
    yield Line("texts of a round by two Ray workers against one", f"{ratio:.2f}× ({rates})", "≥ 1.6×", ratio >= 1.6)
    share = here / first
    shown = f"{share:.2f}× (a round here {here:.1f} s)"
    yield Line("one Ray worker against one thread of this process", shown, "≥ 0.8×", share >= 0.8)


def observe(asked: Asked, senses: Timed) -> None:
    Chunking().observe(ChunkingParams(), asked, senses)


def join(address: str, workers: int) -> Cluster:
    return Cluster(ClusterSettings(address, WorkerBounds(workers, workers)))


def open_senses(cluster: Cluster) -> LocalSenses:
    """With every worker there."""
    senses = LocalSenses(remember=False, workers=1, cluster=cluster)
    assert isinstance(senses.embedder.inner, ClusterEmbedder)
    terms = senses.embedder.inner.steady.terms
    while cluster.count_workers(terms.key).ready < cluster.settings.bounds.min_workers:
        cluster.find_ready(terms)
    return senses


@contextmanager
def start_nodes() -> Iterator[str]:
    command = [sys.executable, "-c", NODES]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as nodes:
        assert nodes.stdout is not None
        yield next(line.split()[1] for line in nodes.stdout if line.startswith("address"))
