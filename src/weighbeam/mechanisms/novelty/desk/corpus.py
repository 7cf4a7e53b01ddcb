"""The corpus: every piece contributed so far, on disk as rows of the store, in memory as an exact index.

The log in the store is the truth. The index only ever follows it, so a transaction that fails leaves nothing behind,
and several processes can share one store: each reads what the others have committed before it looks.
"""

import threading
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from weighbeam.core.quantise import to_micro
from weighbeam.mechanisms.novelty.desk.pieces import (
    Pieces,
    count_pieces,
    insert_pieces,
    select_pieces,
    select_since,
    stream_after,
)
from weighbeam.senses.adapters.corpus.open_index import Scan, open_index
from weighbeam.senses.ports.vectors import NO_ROW, BestRows, NearestRows, VectorIndex
from weighbeam.store.database import Store

LOADED_AT_ONCE = 8192


@dataclass(frozen=True, slots=True)
class NearestContribution:
    """The nearest contribution, and its dot product in units of 1e-12."""

    contribution: int
    product: int

    @property
    def micro(self) -> int:
        return to_micro(self.product)


@dataclass(frozen=True, slots=True)
class CorpusLookahead:
    """Neighbours of pieces among all pieces up to `last`, found before the lock is taken."""

    last: int
    best: BestRows


class Corpus(Protocol):
    """Corpus as a desk needs it; `connection` is the desk's transaction, in which everything counts."""

    def look_ahead(self, texts: Sequence[NDArray[np.int32]], /) -> CorpusLookahead | None:
        """Whatever of `nearest` can be done before the lock, which is then held for the rest alone."""
        ...

    def nearest(
        self, connection: Connection, texts: Sequence[NDArray[np.int32]], ahead: CorpusLookahead | None = None, /
    ) -> list[NearestContribution | None]:
        """For the pieces of each text, the nearest of all pieces committed; None if there are none."""
        ...

    def add(self, connection: Connection, contribution: int, vectors: NDArray[np.int32]) -> None: ...

    def count(self, connection: Connection) -> int: ...

    def size(self, connection: Connection) -> int:
        """How many pieces `nearest` has just looked at in this transaction."""
        ...

    def load(self) -> int:
        """Take in what is committed, so that nobody waits for it later; how many pieces that makes."""
        ...

    def since(self, connection: Connection, piece: int) -> list[tuple[int, int]]:
        """Pieces after a given one: (piece, contribution)."""
        ...


class StoreCorpus:
    """The embedded corpus: an exact scan of everything, in one contiguous index."""

    def __init__(self, store: Store, dimensions: int, scan: Scan = "auto") -> None:
        self._store = store
        self._dimensions = dimensions
        self._scan: Scan = scan
        self._owners = array("q")
        self._ids = array("q")
        self._lock = threading.Lock()
        self._index: VectorIndex = open_index(dimensions, scan, self._fetch)

    def look_ahead(self, _: Sequence[NDArray[np.int32]]) -> None:
        """The scan is fast and needs no help; reading what others committed may take longer."""
        self.load()

    def nearest(
        self, connection: Connection, texts: Sequence[NDArray[np.int32]], _: CorpusLookahead | None = None
    ) -> list[NearestContribution | None]:
        if not texts:
            return []
        with self._lock:
            self._follow(connection)
            if not len(self._index) == len(self._ids) == len(self._owners):
                self._begin_anew()
                self._follow(connection)
            found = choose_nearest(texts, self._index.nearest(np.concatenate(texts)))
            return [None if one is None else NearestContribution(self._owners[one[0]], one[1]) for one in found]

    def add(self, connection: Connection, contribution: int, vectors: NDArray[np.int32]) -> None:
        insert_pieces(connection, contribution, vectors)

    def count(self, connection: Connection) -> int:
        return count_pieces(connection)

    def size(self, _: Connection) -> int:
        return len(self._ids)

    def load(self) -> int:
        with self._store.read() as connection, self._lock:
            self._follow(connection)
            return len(self._ids)

    def since(self, connection: Connection, piece: int) -> list[tuple[int, int]]:
        return select_since(connection, piece)

    def _follow(self, connection: Connection) -> None:
        """Take in what was committed since the last look, in blocks."""
        last = self._ids[-1] if self._ids else 0
        for found in stream_after(connection, last, self._dimensions, LOADED_AT_ONCE):
            self._take(found)

    def _take(self, found: Pieces) -> None:
        """A row can be fetched by its place before the index has it; after a failure all are read again."""
        try:
            self._ids.extend(found.ids)
            self._owners.extend(found.owners)
            self._index.add(found.vectors)
        except BaseException:
            self._begin_anew()
            raise

    def _begin_anew(self) -> None:
        """Whatever interrupted it: an index that is not the log to the last row would pay for what is old."""
        self._owners, self._ids = array("q"), array("q")
        self._index = open_index(self._dimensions, self._scan, self._fetch)

    def _fetch(self, places: NDArray[np.int64]) -> NDArray[np.int32]:
        """Exact rows for the index, which may hold only a sketch of them; in the order of their places."""
        wanted = [self._ids[place] for place in places.tolist()]
        with self._store.read() as connection:
            found = select_pieces(connection, sorted(set(wanted)), self._dimensions)
        order = {id: place for place, id in enumerate(found.ids)}
        return found.vectors[[order[id] for id in wanted]]


def choose_nearest(texts: Sequence[NDArray[np.int32]], found: NearestRows) -> list[tuple[int, int] | None]:
    """Of each text's pieces the nearest place and its product, of equals the oldest; None if there is no place.

    >>> one, two = np.zeros((1, 4), np.int32), np.zeros((2, 4), np.int32)
    >>> choose_nearest([one, two], (np.array([5, 9, 7]), np.array([10, 20, 20])))
    [(5, 10), (7, 20)]
    """
    pairs = list(zip(*(each.tolist() for each in found), strict=True))
    chosen: list[tuple[int, int] | None] = []
    for vectors in texts:
        own, pairs = pairs[: len(vectors)], pairs[len(vectors) :]
        best = max(own, key=lambda pair: (pair[1], -pair[0]), default=(NO_ROW, 0))
        chosen.append(None if best[0] == NO_ROW else best)
    return chosen
