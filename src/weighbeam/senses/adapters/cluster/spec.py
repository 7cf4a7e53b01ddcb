"""Protocols of cluster work: how it is cut, and what a worker must prove before it is used."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class WorkPart:
    """Rows of a request that one worker does at once. Two parts of one lane are never done by two workers at once."""

    rows: tuple[int, ...]
    lane: int | None = None


@dataclass(frozen=True, slots=True)
class WorkerStandard:
    """Standard for every worker's sense: this machine's. `known` is its output for known input."""

    version: str
    digest: str
    known: str


class OpenedSense(Protocol):
    """A sense, loaded where it works."""

    @property
    def digest(self) -> str: ...

    def try_known(self) -> str:
        """A hash of what it makes of known input; empty if there is no such input."""
        ...

    def do(self, items: Sequence[Any]) -> bytes:
        """Compute the sense's output, in the form that `SenseSpec.unpack` reads."""
        ...


class SenseSpec(Protocol):
    """A sense by name: small, pickled on its way, opened by each worker. `at_once` parts are done side by side in one
    worker; one that answers none of them for `part_seconds` is taken for hung."""

    @property
    def at_once(self) -> int: ...

    @property
    def part_seconds(self) -> float: ...

    def cut(self, items: Sequence[Any]) -> list[WorkPart]: ...

    def open(self) -> OpenedSense: ...

    def unpack(self, body: bytes, count: int) -> Iterable[Any]:
        """The results of one part; `worker_fault` if they are not what was asked for."""
        ...


def cut_by_size(sizes: Sequence[int], max_rows: int, max_size: int) -> list[WorkPart]:
    """Large ones first and with their like, so that nobody waits long for the last part.

    >>> [part.rows for part in cut_by_size([5, 90, 7, 80, 6], 2, 100)]
    [(1,), (3, 2), (4, 0)]
    """
    parts: list[WorkPart] = []
    rows: list[int] = []
    size = 0
    for row in sorted(range(len(sizes)), key=lambda row: (-sizes[row], row)):
        if rows and (len(rows) == max_rows or size + sizes[row] > max_size):
            parts.append(WorkPart(tuple(rows)))
            rows, size = [], 0
        rows.append(row)
        size += sizes[row]
    return [*parts, WorkPart(tuple(rows))] if rows else parts
