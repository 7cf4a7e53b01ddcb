"""One Ray cluster for all tests of a run, of two nodes with a core each."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from senses.adapters.cluster.nodes import Nodes
from weighbeam.senses.adapters.cluster.client import Cluster
from weighbeam.senses.adapters.cluster.messages import WorkerBounds
from weighbeam.senses.adapters.cluster.settings import ClusterSettings

Join = Callable[..., Cluster]


@pytest.fixture(scope="session")
def nodes(cache: Path) -> Iterator[Nodes]:
    """Workers share the cache of the test run."""
    started = Nodes()
    try:
        started.add()
        started.add()
        yield started
    finally:
        started.remove()


@pytest.fixture
def join(nodes: Nodes) -> Iterator[Join]:
    """A client of the cluster, closed at the end of the test."""
    with ExitStack() as stack:

        def join(
            min_workers: int = 1, max_workers: int = 2, idle_seconds: float = 30.0, patience_seconds: float = 25.0
        ) -> Cluster:
            settings = ClusterSettings(
                nodes.address, WorkerBounds(min_workers, max_workers, idle_seconds), patience_seconds
            )
            return stack.enter_context(closing(Cluster(settings)))

        yield join
