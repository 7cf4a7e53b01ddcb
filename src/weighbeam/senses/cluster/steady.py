"""A sense that uses the cluster while it can, and this machine's own otherwise: a lost cluster costs no round."""

import pickle
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from weighbeam import __version__
from weighbeam.senses.cluster.client import Cluster, name_terms
from weighbeam.senses.cluster.messages import Open
from weighbeam.senses.cluster.spec import Opened, Spec, Standard


@dataclass(frozen=True, slots=True)
class Late:
    """After so many seconds, what is not done is told as late."""

    seconds: float
    tell: Callable[[Any], Any]


class Steady:
    """`local` is the same sense in this process: what workers are compared with, and what is used without them."""

    def __init__(
        self,
        cluster: Cluster,
        spec: Spec,
        local: Opened,
        do: Callable[[Any], Iterable[Any]],
        late: Late | None = None,
    ) -> None:
        self._cluster, self._spec, self._do, self._late = cluster, spec, do, late
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
        """What no worker did."""
        if self._late is not None and end is not None and time.monotonic() >= end:
            return map(self._late.tell, items)
        return self._do(items)


def _place(results: list[Any], rows: Sequence[int], made: Iterable[Any]) -> None:
    for row, one in zip(rows, made, strict=True):
        results[row] = one
