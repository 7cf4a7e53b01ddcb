"""The senses that a cluster carries, with the names and digests they have here: nobody else sees the difference."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weighbeam.senses.cluster.client import Cluster
from weighbeam.senses.cluster.models import (
    CLASSES,
    EmbedderSpec,
    EntailmentSpec,
    OpenedEmbedder,
    OpenedEntailment,
    is_spread,
)
from weighbeam.senses.cluster.spec import Spec
from weighbeam.senses.cluster.steady import Late, Steady
from weighbeam.senses.cluster.web import OpenedPages, PagesSpec, tell_late
from weighbeam.senses.pages.live import LivePages, LiveSettings
from weighbeam.senses.ports import Embedder, Entailment, Page


class ClusterEmbedder:
    def __init__(self, cluster: Cluster, name: str, local: Embedder) -> None:
        self.id, self.digest, self.dimensions = local.id, local.digest, local.dimensions
        self.steady = Steady(cluster, EmbedderSpec(name, local.dimensions), OpenedEmbedder(local), local.embed)

    def embed(self, texts: Sequence[str]) -> NDArray[np.int32]:
        return np.array(self.steady.do(texts), dtype=np.int32).reshape(len(texts), self.dimensions)


class ClusterEntailment:
    def __init__(self, cluster: Cluster, name: str, local: Entailment) -> None:
        self.id, self.digest = local.id, local.digest
        self.steady = Steady(cluster, EntailmentSpec(name), OpenedEntailment(local), local.judge)

    def judge(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.int32]:
        return np.array(self.steady.do(pairs), dtype=np.int32).reshape(len(pairs), CLASSES)


class ClusterPages:
    """Reads `live` pages; equal URLs once, within a deadline for all."""

    def __init__(self, cluster: Cluster, spec: Spec, local: LivePages) -> None:
        self.id, self.digest = local.id, local.digest
        late = Late(spec.part_seconds, tell_late)
        self.steady = Steady(cluster, spec, OpenedPages(local), local.read_all, late)

    def read(self, url: str) -> Page:
        return self.read_all([url])[0]

    def read_all(self, urls: Sequence[str]) -> list[Page]:
        distinct = list(dict.fromkeys(urls))
        pages = dict(zip(distinct, self.steady.do(distinct), strict=True))
        return [pages[url] for url in urls]


def spread_embedder(cluster: Cluster, name: str, local: Embedder) -> Embedder:
    return ClusterEmbedder(cluster, name, local) if is_spread(name) else local


def spread_pages(cluster: Cluster, local: LivePages, settings: LiveSettings | None) -> ClusterPages:
    return ClusterPages(cluster, PagesSpec(settings or LiveSettings()), local)


def check_spread(sense: object) -> None:
    """`worker_differs` if the cluster's first worker is not what this machine is; a sense of this machine is fine."""
    if isinstance(sense, (ClusterEmbedder, ClusterEntailment, ClusterPages)):
        sense.steady.check()
