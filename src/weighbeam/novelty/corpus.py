"""The corpus: every piece contributed so far, on disk as rows of the store, in memory as an exact index.

The log in the store is the truth. The index only ever follows it, so a transaction that fails leaves nothing behind,
and several processes can share one store: each reads what the others have committed before it looks.
"""

import threading
import zlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, insert, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.quantise import to_micro
from weighbeam.senses.corpus.index import NOWHERE, Index
from weighbeam.senses.corpus.open_index import Scan, open_index
from weighbeam.store.database import Store
from weighbeam.store.novelty_tables import pieces

LOADED_AT_ONCE = 8192
FETCHED_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Near:
    """The nearest contribution, and its dot product in units of 1e-12."""

    contribution: int
    product: int

    @property
    def micro(self) -> int:
        return to_micro(self.product)


class Corpus(Protocol):
    """What a desk needs of a corpus; `connection` is the desk's transaction, in which everything happens."""

    def nearest(self, connection: Connection, texts: Sequence[NDArray[np.int32]]) -> list[Near | None]:
        """For the pieces of each text, the nearest of all pieces committed; None if there are none."""
        ...

    def add(self, connection: Connection, contribution: int, vectors: NDArray[np.int32]) -> None: ...

    def count(self, connection: Connection) -> int: ...

    def load(self, connection: Connection) -> int:
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
        self._index: Index = open_index(dimensions, scan, self._fetch)

    def nearest(self, connection: Connection, texts: Sequence[NDArray[np.int32]]) -> list[Near | None]:
        if not texts:
            return []
        with self._lock:
            self._follow(connection)
            if not len(self._index) == len(self._ids) == len(self._owners):
                self._begin_anew()
                self._follow(connection)
            places, products = self._index.nearest(np.concatenate(texts))
            found: list[Near | None] = []
            stop = 0
            for vectors in texts:
                start, stop = stop, stop + len(vectors)
                found.append(self._best(places[start:stop].tolist(), products[start:stop].tolist()))
            return found

    def add(self, connection: Connection, contribution: int, vectors: NDArray[np.int32]) -> None:
        rows = [write_vector(vector) for vector in vectors]
        connection.execute(
            insert(pieces), [{"contribution": contribution, "vector": row, "crc": zlib.crc32(row)} for row in rows]
        )

    def count(self, connection: Connection) -> int:
        return int(connection.scalar(select(func.count()).select_from(pieces)) or 0)

    def load(self, connection: Connection) -> int:
        with self._lock:
            self._follow(connection)
            return len(self._ids)

    def since(self, connection: Connection, piece: int) -> list[tuple[int, int]]:
        query = select(pieces.c.id, pieces.c.contribution).where(pieces.c.id > piece).order_by(pieces.c.id)
        return [(row.id, row.contribution) for row in connection.execute(query)]

    def _best(self, places: list[int], products: list[int]) -> Near | None:
        """Of the pieces' nearest the nearest, of equals the oldest."""
        if not places or places[0] == NOWHERE:
            return None
        product, place = max(zip(products, places, strict=True), key=lambda pair: (pair[0], -pair[1]))
        return Near(self._owners[place], product)

    def _follow(self, connection: Connection) -> None:
        """Take in what was committed since the last look, in blocks."""
        columns = (pieces.c.id, pieces.c.contribution, pieces.c.vector, pieces.c.crc)
        while True:
            last = self._ids[-1] if self._ids else 0
            query = select(*columns).where(pieces.c.id > last).order_by(pieces.c.id).limit(LOADED_AT_ONCE)
            rows = connection.execute(query).all()
            if not rows:
                return
            self._take(rows)
            if len(rows) < LOADED_AT_ONCE:
                return

    def _take(self, rows: Sequence[Any]) -> None:
        """A row can be fetched by its place before the index has it; after a failure all are read again."""
        vectors = self._read([(row.id, row.vector, row.crc) for row in rows])
        try:
            self._ids.extend(row.id for row in rows)
            self._owners.extend(row.contribution for row in rows)
            self._index.add(vectors)
        except BaseException:
            self._begin_anew()
            raise

    def _begin_anew(self) -> None:
        """Whatever interrupted it: an index that is not the log to the last row would pay for what is old."""
        self._owners, self._ids = array("q"), array("q")
        self._index = open_index(self._dimensions, self._scan, self._fetch)

    def _read(self, rows: Sequence[tuple[int, bytes, int]]) -> NDArray[np.int32]:
        for id, vector, crc in rows:
            if len(vector) != 4 * self._dimensions or zlib.crc32(vector) != crc:
                raise WeighbeamError("corrupt_corpus", f"piece {id} of the corpus is damaged", "restore a backup")
        joined = np.frombuffer(b"".join(vector for _, vector, _ in rows), dtype="<i4")
        return joined.reshape(len(rows), self._dimensions).astype(np.int32, copy=False)

    def _fetch(self, places: NDArray[np.int64]) -> NDArray[np.int32]:
        """Exact rows for the index, which may hold only a sketch of them."""
        wanted = [self._ids[place] for place in places.tolist()]
        found: dict[int, tuple[int, bytes, int]] = {}
        with self._store.read() as connection:
            for start in range(0, len(wanted), FETCHED_AT_ONCE):
                part = wanted[start : start + FETCHED_AT_ONCE]
                query = select(pieces.c.id, pieces.c.vector, pieces.c.crc).where(pieces.c.id.in_(part))
                found.update({row.id: (row.id, row.vector, row.crc) for row in connection.execute(query)})
        missing = [id for id in wanted if id not in found]
        if missing:
            raise WeighbeamError("corrupt_corpus", f"piece {missing[0]} of the corpus is gone", "restore a backup")
        return self._read([found[id] for id in wanted])


def write_vector(vector: NDArray[np.int32]) -> bytes:
    return vector.astype("<i4", copy=False).tobytes()
