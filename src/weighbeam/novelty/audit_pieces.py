"""The pieces of a record: none damaged, each somebody's; and, where asked for, every similarity measured again."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.quantise import to_micro
from weighbeam.novelty.record import Line, Record
from weighbeam.senses.corpus.index import NOWHERE, Index
from weighbeam.senses.corpus.open_index import open_index

Nearest = tuple[int | None, int | None]


@dataclass(slots=True)
class Found:
    """How many pieces each contribution has, and what was nearest to it when it came."""

    counts: dict[int, int] = field(default_factory=dict)
    nearest: dict[int, Nearest] = field(default_factory=dict)


def count_pieces(record: Record, found: Found, deep: bool) -> Iterator[str]:
    """What is wrong with the pieces; fills `found`."""
    size = 4 * int((record.embedder or {}).get("dimensions") or 0)
    index = open_index(size // 4) if deep and size else None
    owners: list[int] = []
    for contribution, group in groupby(record.pieces, key=lambda row: row["contribution"]):
        rows = list(group)
        if contribution in found.counts:
            yield f"the pieces of contribution {contribution} lie apart"
        found.counts[contribution] = found.counts.get(contribution, 0) + len(rows)
        damaged = [row["id"] for row in rows if is_damaged(row, size)]
        yield from (f"piece {id} of contribution {contribution} is damaged" for id in damaged)
        if index is not None and not damaged and all(row["vector"] is not None for row in rows):
            try:
                found.nearest[contribution] = _place(rows, contribution, index, owners)
            except WeighbeamError as fault:
                yield f"contribution {contribution} cannot be measured: {fault.message}"


def say_similarity(row: Line, found: Found) -> Iterator[str]:
    """Whether a contribution was as near to its nearest as it was paid for."""
    measured = found.nearest.get(row["id"])
    if measured is not None and measured != (row["nearest"], row["micro"]):
        said = f"{row['micro']} millionths to {row['nearest']}"
        yield f"it was paid for {said}, and {measured[1]} to {measured[0]} are measured"


def is_damaged(row: Line, size: int) -> bool:
    vector = row["vector"]
    return vector is not None and (len(vector) != size or zlib.crc32(vector) != row["crc"])


def _place(rows: list[Line], contribution: int, index: Index, owners: list[int]) -> Nearest:
    """The nearest of everything before, of equals the oldest; then it is there itself."""
    vectors = np.stack([np.frombuffer(row["vector"], "<i4") for row in rows]).astype(np.int32)
    places, products = (found.tolist() for found in index.nearest(vectors))
    nearest: Nearest = (None, None)
    if places[0] != NOWHERE:
        product, place = max(zip(products, places, strict=True), key=lambda pair: (pair[0], -pair[1]))
        nearest = (owners[place], to_micro(product))
    index.add(vectors)
    owners += [contribution] * len(rows)
    return nearest
