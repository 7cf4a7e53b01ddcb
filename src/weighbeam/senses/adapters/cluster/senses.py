"""Senses that run on a cluster while they can and on this machine otherwise, with the names and digests they have
here.
"""

import pickle
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam import __version__
from weighbeam.senses.adapters.cluster.client import Cluster, name_pool
from weighbeam.senses.adapters.cluster.messages import OpenPool
from weighbeam.senses.adapters.cluster.models import (
    CLASSES,
    EmbedderSpec,
    EntailmentSpec,
    OpenedEmbedder,
    OpenedEntailment,
    is_spread,
)
from weighbeam.senses.adapters.cluster.pages import OpenedPages, PagesSpec, make_late_page
from weighbeam.senses.adapters.cluster.spec import OpenedSense, SenseSpec, WorkerStandard
from weighbeam.senses.adapters.pages.live import LivePages, LiveSettings
from weighbeam.senses.ports.page import Page
from weighbeam.senses.ports.protocols import Embedder, Entailment


@dataclass(frozen=True, slots=True)
class LateParts:
    """Reports parts that are not done after this many seconds as late."""

    seconds: float
    tell: Callable[[Any], Any]


class FallbackSense:
    """`local` is the same sense in this process: what workers are compared with, and what is used without them."""

    def __init__(
        self,
        cluster: Cluster,
        spec: SenseSpec,
        local: OpenedSense,
        do: Callable[[Any], Iterable[Any]],
        late: LateParts | None = None,
    ) -> None:
        self._cluster, self._spec, self._do, self._late = cluster, spec, do, late
        standard = WorkerStandard(__version__, local.digest, local.try_known())
        given = pickle.dumps(spec)
        key = name_pool(given, standard)
        self.terms = OpenPool(key, given, standard, spec.at_once, spec.part_seconds)

    def check(self) -> None:
        """`worker_differs` if the first worker is not what this machine is."""
        self._cluster.find_ready(self.terms)

    def do(self, items: Sequence[Any]) -> list[Any]:
        """One result for each, in the order given."""
        parts = self._spec.cut(items)
        end = None if self._late is None else time.monotonic() + self._late.seconds

        def pack(number: int) -> bytes:
            return pickle.dumps([items[row] for row in parts[number].rows])

        made = self._cluster.ask(self.terms, [part.lane for part in parts], pack, end)
        results: list[Any] = [None] * len(items)
        left: list[int] = []
        for part, body in zip(parts, made, strict=True):
            if body is None:
                left += part.rows
            else:
                _place(results, part.rows, self._spec.unpack(body, len(part.rows)))
        if left:
            _place(results, left, self._finish([items[row] for row in left], end))
        return results

    def _finish(self, items: Sequence[Any], end: float | None) -> Iterable[Any]:
        """Compute the parts that no worker did."""
        if self._late is not None and end is not None and time.monotonic() >= end:
            return map(self._late.tell, items)
        return self._do(items)


def _place(results: list[Any], rows: Sequence[int], made: Iterable[Any]) -> None:
    for row, one in zip(rows, made, strict=True):
        results[row] = one


class ClusterEmbedder:
    def __init__(self, cluster: Cluster, name: str, local: Embedder) -> None:
        self.id, self.digest, self.dimensions = local.id, local.digest, local.dimensions
        self.steady = FallbackSense(cluster, EmbedderSpec(name, local.dimensions), OpenedEmbedder(local), local.embed)

    def embed(self, texts: Sequence[str]) -> NDArray[np.int32]:
        return np.array(self.steady.do(texts), dtype=np.int32).reshape(len(texts), self.dimensions)


class ClusterEntailment:
    def __init__(self, cluster: Cluster, name: str, local: Entailment) -> None:
        self.id, self.digest = local.id, local.digest
        self.steady = FallbackSense(cluster, EntailmentSpec(name), OpenedEntailment(local), local.judge)

    def judge(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.int32]:
        return np.array(self.steady.do(pairs), dtype=np.int32).reshape(len(pairs), CLASSES)


class ClusterPages:
    """Reads `live` pages; equal URLs once, within a deadline for all."""

    def __init__(self, cluster: Cluster, spec: SenseSpec, local: LivePages) -> None:
        self.id, self.digest = local.id, local.digest
        late = LateParts(spec.part_seconds, make_late_page)
        self.steady = FallbackSense(cluster, spec, OpenedPages(local), local.read_all, late)

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
