"""One index of clustered rows, filled and searched in a process of its own: `SCAN ROWS`. Prints one JSON object."""

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import time_alternately, time_once
from weighbeam.core.quantise import unit_millionths
from weighbeam.senses.adapters.corpus.blocks import cut_parts
from weighbeam.senses.adapters.corpus.codes import CodeMultiplier, encode_rows
from weighbeam.senses.adapters.corpus.flat import FlatIndex
from weighbeam.senses.adapters.corpus.int8_bound import PART_ALONE, BoundIndex
from weighbeam.senses.adapters.corpus.open_index import Scan, open_index
from weighbeam.senses.ports.vectors import VectorIndex, dot_exact

DIMENSIONS, STEP, CLUSTERS, SPREAD, BATCH = 384, 500, 2_000, 0.7, 64
LAPS = 15
QUERIES, ROWS, INSERTED = 1, 2, 3
Rows = NDArray[np.int32]


class Shelf:
    """Exact rows in a file, and how many were read for each query."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.read = [0]

    def fetch(self, places: NDArray[np.int64]) -> Rows:
        self.read[-1] += len(places)
        return np.array(np.memmap(self.path, np.int32, "r").reshape(-1, DIMENSIONS)[places])


def main(scan: Scan, count: int) -> None:
    queries = next(make_rows(QUERIES, BATCH))
    with tempfile.TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder) / "rows")
        _warm_up(scan, queries)
        index, oracle = open_index(DIMENSIONS, scan, shelf.fetch), _Oracle(queries)
        before = _memory("VmRSS")
        with shelf.path.open("wb") as file:
            for rows in make_rows(ROWS, count):
                file.write(rows.tobytes())
                index.add(rows)
                oracle.see(rows)
        result = {"wrong": oracle.count_wrong(index.nearest(queries)), "grown": _memory("VmHWM") - before}
        if isinstance(index, FlatIndex | BoundIndex):
            result |= _time(index, queries, shelf)
        print(json.dumps({**result, "seen": _see_insert(index, shelf)}))


def _warm_up(scan: Scan, queries: Rows) -> None:
    """What a process allocates once is not the index's."""
    index = open_index(DIMENSIONS, scan, lambda places: queries[places])
    index.add(queries)
    index.nearest(queries)


def make_rows(seed: int, count: int) -> Iterator[Rows]:
    """Texts around topics: a query's nearest row is at about 0.75, the next a few thousandths off."""
    centres = np.random.default_rng(0).normal(size=(CLUSTERS, DIMENSIONS)).astype(np.float32)
    rng = np.random.default_rng(seed)
    for first in range(0, count, STEP):
        size = min(STEP, count - first)
        noise = rng.standard_normal((size, DIMENSIONS), np.float32)
        yield unit_millionths((centres[rng.integers(0, CLUSTERS, size)] + SPREAD * noise).astype(np.float64))


def _time(index: FlatIndex | BoundIndex, queries: Rows, shelf: Shelf) -> dict[str, Any]:
    shelf.read = []
    views = _view_memory(index)

    def search() -> None:
        shelf.read.append(0)
        index.nearest(queries[len(shelf.read) % BATCH][None])

    single, read = time_alternately(search, lambda: [view.max() for view in views], LAPS, time.process_time)
    usual, limit = median(shelf.read), max(shelf.read)
    batch, summed = time_alternately(
        lambda: index.nearest(queries), lambda: [np.add.reduce(view) for view in views], 5, time.process_time
    )
    found = {"single": single, "read": read, "summed": summed, "batch": batch / BATCH, "fetched": [usual, limit]}
    return {**found, **({"products": _time_products(index, queries)} if isinstance(index, BoundIndex) else {})}


def _time_products(index: BoundIndex, queries: Rows) -> float:
    """What the kernel takes for one query's products of codes: nothing of the index can be faster."""
    multiplier = CodeMultiplier(encode_rows(queries[:1]).codes, PART_ALONE)
    parts = [
        index._blocks[block].codes[first:last] for block, first, last in cut_parts(len(index), PART_ALONE, PART_ALONE)
    ]
    return median(
        time_once(lambda: [multiplier.multiply(part) for part in parts], time.process_time) for _ in range(LAPS)
    )


def _view_memory(index: FlatIndex | BoundIndex) -> list[NDArray[Any]]:
    """The rows' own bytes, in the type that numpy reads fastest."""
    whole: list[NDArray[Any]]
    if isinstance(index, FlatIndex):
        whole = list(index._blocks)
    else:
        whole = [block.codes.view(np.uint64) for block in index._blocks]
    starts = range(0, len(index), len(whole[0]))
    return [block[: len(index) - start].reshape(-1) for block, start in zip(whole, starts, strict=True)]


def _see_insert(index: VectorIndex, shelf: Shelf) -> bool:
    """A row added just now is its own nearest."""
    row = next(make_rows(INSERTED, 1))
    with shelf.path.open("ab") as file:
        file.write(row.tobytes())
    place = len(index)
    index.add(row)
    places, products = index.nearest(row)
    return bool(places[0] == place and products[0] == dot_exact(row, row)[0, 0])


class _Oracle:
    """Every product as an integer, while the rows pass by."""

    def __init__(self, queries: Rows) -> None:
        self.queries = queries
        self.best = np.full(len(queries), -(2**62))
        self.place = np.full(len(queries), -1)
        self.passed = 0

    def see(self, rows: Rows) -> None:
        products = dot_exact(self.queries, rows)
        highest = products.max(axis=1)
        self.place = np.where(highest > self.best, self.passed + products.argmax(axis=1), self.place)
        self.best = np.maximum(highest, self.best)
        self.passed += len(rows)

    def count_wrong(self, found: tuple[NDArray[np.int64], NDArray[np.int64]]) -> int:
        return int(((found[0] != self.place) | (found[1] != self.best)).sum())


def _memory(name: str) -> float:
    """MB of this process alone: what `getrusage` calls its peak may be its parent's."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main(cast(Scan, sys.argv[1]), int(sys.argv[2]))
