"""A sense that uses the cluster while it can, and this machine's own otherwise: a lost cluster costs no round."""

import pickle
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from weighbeam import __version__
from weighbeam.senses.cluster.client import Cluster, name_terms
from weighbeam.senses.cluster.messages import Open
from weighbeam.senses.cluster.spec import Opened, Spec, Standard


class Steady:
    """`local` is the same sense in this process: what workers are compared with, and what is used without them."""

    def __init__(self, cluster: Cluster, spec: Spec, local: Opened, do: Callable[[Any], Iterable[Any]]) -> None:
        self._cluster, self._spec, self._do = cluster, spec, do
        standard = Standard(__version__, local.digest, local.try_known())
        given = pickle.dumps(spec)
        key = name_terms(given, standard)
        self.terms = Open(key, given, standard, spec.at_once, spec.part_seconds)

    def check(self) -> None:
        """`worker_differs` if the first worker is not what this machine is."""
        self._cluster.find_ready(self.terms)

    def do(self, items: Sequence[Any]) -> list[Any]:
        """One result for each, in the order given."""
        parts = self._spec.cut(items)
        lanes = [part.lane for part in parts]
        made = self._cluster.ask(
            self.terms, lanes, lambda number: pickle.dumps([items[row] for row in parts[number].rows])
        )
        results: list[Any] = [None] * len(items)
        for part, body in zip(parts, made, strict=True):
            if body is not None:
                _place(results, part.rows, self._spec.unpack(body, len(part.rows)))
        left = [row for part, body in zip(parts, made, strict=True) if body is None for row in part.rows]
        if left:
            _place(results, left, self._do([items[row] for row in left]))
        return results


def _place(results: list[Any], rows: Sequence[int], made: Iterable[Any]) -> None:
    for row, one in zip(rows, made, strict=True):
        results[row] = one
